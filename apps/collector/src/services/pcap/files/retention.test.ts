import { createFakeClock, createId, silentLog } from "@lanthorn/runtime";
import { join } from "node:path";
import { expect, test } from "vitest";
import { insertMany } from "../../../db/query/write-many.ts";
import { PcapSettings } from "../configuration.ts";
import { NO_COUNTERS } from "../requests.ts";
import type { PcapRow } from "../store/pcaps-store.ts";
import { createPcapRetentionStore } from "../store/retention-store.ts";
import { openPcapBench } from "../testing/pcap-bench.ts";
import { createDirectoryStore } from "./capture-store.ts";
import { createPcapRetention } from "./retention.ts";

const OLD = "2025-01-01T00:00:00.000Z";

test("all that is old goes in one run, however many there are", async () => {
  const bench = await openPcapBench();
  const { database, tenantId, siteId, dataDir } = bench.stack;
  const rowOf = (given: Partial<PcapRow>): PcapRow => ({
    id: createId(), tenant_id: tenantId, site_id: siteId, probe_id: createId(), trigger: "alert", state: "ready", detail: "", is_cut: 0, file_name: "",
    size_bytes: 1, sha256: "", packets: 0, started_at: null, finished_at: null, interfaces: "[]", filter: "", snap_length: 0, headers_only: 0,
    counters: JSON.stringify(NO_COUNTERS), alert_ids: "[]", macs: "[]", ips: "[]", summary: null, limits: null, requested_by: null, happened_at: OLD,
    created_at: OLD, updated_at: OLD, locked_by: null, locked_at: null, lock_reason: null, stored_at: OLD, stored_bytes: 1, key_sealed: "",
    deleted_at: null, deletion_heard: 0, ...given,
  });
  const forgotten = Array.from({ length: 401 }, () => rowOf({ state: "expired", stored_at: null, stored_bytes: 0, key_sealed: null }));
  const locked = rowOf({ locked_at: OLD, locked_by: "tester" });
  await database.db.transaction().execute((trx) => insertMany(trx, "pcaps", [...Array.from({ length: 401 }, () => rowOf({})), ...forgotten, locked]));
  const clock = createFakeClock(Date.UTC(2026, 10, 20));
  const { job } = createPcapRetention({
    store: createPcapRetentionStore(database), audit: () => Promise.resolve(), onRun: () => Promise.resolve(), files: createDirectoryStore(join(dataDir, "captures")),
    settings: PcapSettings.parse({}), clock, log: silentLog,
  });
  await job.runSoon();
  await job.close();
  const left = await database.db.selectFrom("pcaps").select(["id", "state"]).where("tenant_id", "=", tenantId).execute();
  expect([left.filter(({ state }) => state === "expired").length, left.filter(({ state }) => state === "ready").map(({ id }) => id)]).toEqual([401, [locked.id]]);
});
