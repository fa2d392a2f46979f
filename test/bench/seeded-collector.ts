import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createId, seededRandom, toInstant } from "@lanthorn/runtime";
import { openDatabase } from "../../apps/collector/src/db/open.ts";
import { type Daemon, startDaemon } from "../system/daemon.ts";
import { COLLECTOR } from "../system/deployment.ts";
import { seedDevices } from "./api-devices.ts";

/** Of the administrator `admin`. */
export const SEED_PASSWORD = "a password of the bench";

/**
 * Makes the database of a collector with many devices at twenty sites. The collector's own first start makes the tables, the tenant and
 * the user; the devices are written beside it.
 * @param options.configuration Further settings, in TOML.
 */
export async function seedCollector(
  directory: string, { devices, configuration = "" }: { readonly devices: number; readonly configuration?: string },
): Promise<{ readonly tenantId: string; readonly siteIds: readonly string[] }> {
  writeFileSync(join(directory, "collector.toml"), `[https]\nenabled = false\n${configuration}`);
  await (await startSeeded(directory)).stop();
  const { db, close } = await openDatabase({ file: join(directory, "lanthorn.db") });
  const { id: tenantId } = await db.selectFrom("tenants").select("id").executeTakeFirstOrThrow();
  const siteIds = Array.from({ length: 20 }, createId);
  for (const [index, id] of siteIds.entries()) {
    await db.insertInto("sites")
      .values({ id, tenant_id: tenantId, name: `site ${index}`, probe_configuration: "{}", created_at: toInstant(Date.now()) }).execute();
  }
  const startedAt = performance.now();
  await seedDevices(db, { tenantId, siteIds }, { devices, random: seededRandom(1) });
  await close();
  console.log(`seeded   ${devices} devices, ${devices * 10} ports in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return { tenantId, siteIds };
}

/** Starts the collector of such a directory. */
export function startSeeded(directory: string): Promise<Daemon> {
  return startDaemon({
    script: COLLECTOR, args: ["run", "--config", join(directory, "collector.toml")], logFile: join(directory, "collector.log"),
    env: {
      LANTHORN_DATA_DIR: directory, LANTHORN_HTTP_PORT: "0", LANTHORN_MQTT_HOST: "127.0.0.1", LANTHORN_MQTT_PORT: "0",
      LANTHORN_LOG_LEVEL: "warn", LANTHORN_FEEDS_ENABLED: "false",
      LANTHORN_ADMIN_PASSWORD: SEED_PASSWORD,
    },
  });
}
