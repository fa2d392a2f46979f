import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProbeHealth } from "@lanthorn/contract";
import { createFakeClock, createId, type FakeClock, silentLog, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "../../../db/open.ts";
import { openTestDatabase } from "../../../testing/database.ts";
import { createDecoyAddresses } from "./decoy-addresses.ts";

const START = Date.UTC(2026, 5, 1, 12);
const MINUTE_MS = 60_000;

let folder: string;
let database: Database;
let clock: FakeClock;
const probe = { probeId: createId(), tenantId: createId(), siteId: createId() };
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-decoy-addresses-"));
  database = await openTestDatabase(folder);
  clock = createFakeClock(START);
  const { probeId: id, tenantId: tenant_id, siteId: site_id } = probe;
  const at = toInstant(START);
  await database.db.insertInto("tenants").values({ id: tenant_id, name: "tenant", created_at: at }).execute();
  await database.db.insertInto("sites").values({ id: site_id, tenant_id, name: "site", created_at: at, probe_configuration: "{}" }).execute();
  await database.db.insertInto("probes").values({
    id, tenant_id, site_id, name: "box", enrolled_at: at, revoked_at: null, certificate_serial: "", certificate_expires_at: at, version: "", state: "online", silent_since: null, last_heard_at: null,
    run_id: null, health: null,
  }).execute();
});
afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

/** As another replica each time, which remembers nothing. */
const hear = (addresses?: readonly string[]) => createDecoyAddresses({ ...database, clock, log: silentLog }).heard(probe, addresses === undefined ? {} : {
  decoys: { decoys: addresses.map((address) => ({ address, name: "files2" })) } as unknown as NonNullable<ProbeHealth["decoys"]>,
});
const kept = async () => (await database.db.selectFrom("honeypot_addresses").selectAll().orderBy("ip_key").execute())
  .map(({ ip, settled_before: settled, reported_at: reported }) => [ip, (Date.parse(settled) - START) / MINUTE_MS, (Date.parse(reported) - START) / MINUTE_MS]);

test("addresses of decoys end ten minutes after the probe leaves them out, and not while it has only just been started", async () => {
  await hear(["192.0.2.9"]);
  await hear();
  await clock.advance(9 * MINUTE_MS);
  await hear();
  expect(await kept()).toEqual([["192.0.2.9", -60, 0]]);
  await clock.advance(MINUTE_MS + 1);
  await hear();
  expect(await kept()).toEqual([]);
});

test("are written anew every five minutes or where they are others, with since when they are there, whichever replica hears of them", async () => {
  await hear(["192.0.2.9"]);
  await clock.advance(4 * MINUTE_MS);
  await hear(["192.0.2.9"]);
  expect(await kept()).toEqual([["192.0.2.9", -60, 0]]);
  await hear(["192.0.2.9", "192.0.2.10"]);
  expect(await kept()).toEqual([["192.0.2.9", -60, 4], ["192.0.2.10", -56, 4]]);
  await clock.advance(6 * MINUTE_MS);
  await hear(["192.0.2.9", "192.0.2.10"]);
  expect(await kept()).toEqual([["192.0.2.9", -60, 10], ["192.0.2.10", -56, 10]]);
  // What was not reported for a day is new.
  await clock.advance(1441 * MINUTE_MS);
  await hear(["192.0.2.10"]);
  expect(await kept()).toEqual([["192.0.2.10", 1391, 1451]]);
});
