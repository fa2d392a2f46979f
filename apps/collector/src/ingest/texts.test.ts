import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ProbeAddress } from "../broker/broker.ts";
import { createIngestBench, type IngestBench } from "./testing/bench.ts";

let bench: IngestBench;
let probe: ProbeAddress;
beforeEach(async () => {
  bench = await createIngestBench({ alerts: true });
  probe = await bench.addProbe();
});
afterEach(() => bench.close());

const now = () => toInstant(bench.clock.now());
const rogue = (subject: string, detail: string) => ({
  type: "rogue_detected", occurred_at: now(),
  data: {
    kind: "neighbor_spoofing", state: "seen", subject, severity: "high", ip: "", mac: "02:00:00:00:00:66", expected_macs: [], vlan_id: null, detail,
    facts: { "system name": detail }, count: 1, since: now(), packets: [],
  },
} as const);

/** PostgreSQL has no place for U+0000: a name with one in it, which any host on the link may send, must not make its alert go missing. */
test("what a probe reports is taken with U+0000 in it", async () => {
  expect(await bench.sendBatch(probe, createId(), 0, [rogue("a\0", String.raw`core\0 \\u0000`), rogue("b", "core\0")])).toMatchObject({ watermark: 2, refused: null });
  const alerts = await bench.database.db.selectFrom("alerts").select(["subject", "description"]).orderBy("subject").execute();
  expect(alerts).toEqual([
    { subject: "a\u{FFFD}", description: String.raw`core\0 \\u0000` }, { subject: "b", description: "core\u{FFFD}" },
  ]);
  expect(await bench.database.db.selectFrom("rejected_events").select("payload").execute()).toEqual([]);
});

test("what it says of itself too", async () => {
  await bench.send(probe, "status", { v: 1, state: "online", version: "1\0", run_id: createId(), at: now() });
  expect(await bench.database.db.selectFrom("probes").select("version").executeTakeFirst()).toEqual({ version: "1\u{FFFD}" });
  expect(bench.ingest.health()).toMatchObject({ status: "ok" });
});
