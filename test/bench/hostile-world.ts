import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createRestClient, type RestClient } from "@lanthorn/client";
import { createId, seededRandom, toInstant } from "@lanthorn/runtime";
import { createRequest } from "../../apps/collector/src/certificates/testing/request.ts";
import { type Database, openDatabase } from "../../apps/collector/src/db/open.ts";
import { insertMany } from "../../apps/collector/src/db/query/write-many.ts";
import { tryCommand } from "../lab/run-command.ts";
import { COLLECTOR, type Collector, startCollector } from "../system/deployment.ts";
import type { ProbeIdentity } from "../system/simulated-probe.ts";
import { seedDevices } from "./api-devices.ts";
import type { AttackOrder, WitnessOrder } from "./hostile-order.ts";

const PASSWORD = "a password of the bench";
const DEVICES_EACH = 500;
/** What a probe that named a new queue in every batch has left behind in the hours before. */
const OLD_QUEUES = 200_000;
const CONFIGURATION_LINES = 40_000;

/** The well-behaved ask faster than anybody may: API keys have room, and so have those of attackers. The other limits are the defaults. */
const CONFIGURATION = `
[rate_limits.service]
per_minute = 100000
burst = 10000
`;

/** A collector, who is good in it and who is not. */
export interface World {
  readonly collector: Collector;
  readonly database: Database;
  /** The collector's SQLite file. */
  readonly file: string;
  readonly witness: WitnessOrder;
  readonly order: Omit<AttackOrder, "attack" | "seconds">;
  /** The tenant of the good, its site, another of its sites, and a tenant that only stands by. */
  readonly good: { readonly tenantId: string; readonly siteId: string; readonly otherSiteId: string };
  readonly bystanderId: string;
  close(): Promise<void>;
}

/** Starts a collector and fills it: a tenant with two sites, one that stands by, and one whose users and probes are hostile. */
export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-hostile-"));
  const file = join(folder, "collector.toml");
  writeFileSync(file, CONFIGURATION);
  const dataDir = join(folder, "data");
  const collector = await startCollector({
    dataDir, host: "127.0.0.1", file, env: { LANTHORN_LOG_LEVEL: "error", LANTHORN_ADMIN_PASSWORD: PASSWORD },
  });
  const databaseFile = join(dataDir, "lanthorn.db");
  const database = await openDatabase({ file: databaseFile });
  const close = async () => {
    await database.close();
    await collector.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const made = await fill({ collector, database, folder, dataDir });
    return { ...made, collector, database, file: databaseFile, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function fill({ collector, database, folder, dataDir }: {
  readonly collector: Collector; readonly database: Database; readonly folder: string; readonly dataDir: string;
}): Promise<Pick<World, "witness" | "order" | "good" | "bystanderId">> {
  const { url, rest } = collector;
  const admin = { run: (...args: readonly string[]) => administer(dataDir, args) };
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, PASSWORD);

  const site = (await rest.listSites()).data[0];
  if (!site) throw new Error("the collector has no site");
  const other = await rest.createSite({ name: "other" });
  const { tenant_id: tenantId } = await database.reads.selectFrom("sites").select("tenant_id").where("id", "=", site.id)
    .executeTakeFirstOrThrow();
  const bystander = await createTenant(admin, "bystander");
  const hostile = await createTenant(admin, "hostile");
  const place = (of: string, siteId: string) => ({ tenantId: of, siteIds: [siteId] });
  const random = seededRandom(1);
  for (const each of [place(tenantId, site.id), place(tenantId, other.id), place(bystander.tenantId, bystander.siteId)]) {
    await seedDevices(database.db, each, { devices: DEVICES_EACH, random });
  }

  for (const [name, role] of [["mallory", "admin"], ["trudy", "viewer"]] as const) {
    await admin.run("create-user", name, "--tenant", hostile.tenantId, "--role", role, "--password-file", passwordFile);
  }
  const mallory = await loggedIn(url, "mallory");
  const { key: hostileKey } = await mallory.createApiKey({ name: "hostile", scopes: ["devices:read", "devices:write"], expires_at: null });
  const { key: goodKey } = await rest.createApiKey({ name: "good", scopes: ["devices:read"], expires_at: null });
  const device = await mallory.createDevice({ ip: "10.99.0.254", site_id: hostile.siteId });
  for (const version of [1, 2]) await mallory.uploadDeviceConfiguration(device.id, { content: longConfiguration(version) });

  const enroll = (by: RestClient, siteId: string, name: string) => enrollProbe({ by, siteId, name });
  const identity = await enroll(rest, site.id, "good");
  const own = (name: string) => enroll(mallory, hostile.siteId, name);
  const probes = {
    queues: await own("queues"), qos2: await own("qos2"), bytes: await own("bytes"), neighbors: await own("neighbors"),
    beside: await enroll(rest, site.id, "beside"), elsewhere: await enroll(rest, other.id, "elsewhere"),
  };
  await leaveQueues(database, probes.queues);
  const port = (of: unknown) => Number(new URL(String(of)).port);
  return {
    witness: { url, apiKey: goodKey, identity },
    order: {
      url, httpsPort: port(collector.httpsUrl), mqttPort: port(collector.ready["mqtt_url"]), deviceId: device.id, siteId: hostile.siteId,
      probes,
      admin: { username: "mallory", password: PASSWORD, apiKey: hostileKey }, viewer: { username: "trudy", password: PASSWORD },
    },
    good: { tenantId, siteId: site.id, otherSiteId: other.id },
    bystanderId: bystander.tenantId,
  };
}

async function administer(dataDir: string, args: readonly string[]): Promise<string> {
  const env = { LANTHORN_DATA_DIR: dataDir };
  const { code, stdout, stderr } = await tryCommand(process.execPath, [COLLECTOR, "admin", ...args], { env });
  if (code !== 0) throw new Error(`lanthorn-collector admin ${args.join(" ")} ended with ${code}: ${stderr}`);
  return stdout;
}

async function createTenant(
  admin: { run(...args: readonly string[]): Promise<string> }, name: string,
): Promise<{ readonly tenantId: string; readonly siteId: string }> {
  const [tenantId, siteId] = (await admin.run("create-tenant", name)).match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
  if (tenantId === undefined || siteId === undefined) throw new Error(`the tenant ${name} was not created`);
  return { tenantId, siteId };
}

async function loggedIn(url: string, username: string): Promise<RestClient> {
  let token: string | null = null;
  const rest = createRestClient({ url, token: () => token, fetch });
  token = (await rest.login({ username, password: PASSWORD })).access_token;
  return rest;
}

async function enrollProbe(
  { by, siteId, name }: { readonly by: RestClient; readonly siteId: string; readonly name: string },
): Promise<ProbeIdentity> {
  // The limits hold here too: ten requests a second.
  await pause(300);
  const { token } = await by.createEnrollmentToken({ site_id: siteId });
  const { key, request } = await createRequest();
  const enrolled = await by.enrollProbe({ token, certificate_request: request, name });
  const { hostname: host, port } = new URL(enrolled.mqtt_url);
  const { certificate, ca_certificate: ca, tenant_id: tenantId, probe_id: probeId } = enrolled;
  return { host, port: Number(port), ca, key, certificate, tenantId, probeId };
}

async function leaveQueues({ db }: Database, { probeId, tenantId }: ProbeIdentity): Promise<void> {
  const at = toInstant(Date.now());
  for (let made = 0; made < OLD_QUEUES; made += 10_000) {
    await db.transaction().execute((trx) => insertMany(trx, "probe_queues", Array.from({ length: 10_000 }, () => ({
      probe_id: probeId, queue_id: createId(), tenant_id: tenantId, watermark: 1, updated_at: at,
    }))));
  }
}

/** As long as an upload may be. Hardly a line of one version is in the other. */
function longConfiguration(version: number): string {
  const lineAt = (index: number) => (index % 7 === 0 ? `a${index}` : `${version}x${(index * 7919) % 99_991}`);
  return Array.from({ length: CONFIGURATION_LINES }, (_, index) => lineAt(index)).join("\n");
}
