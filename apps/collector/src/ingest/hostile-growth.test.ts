import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProbeAddress } from "../broker/broker.ts";
import { MAX_UNCHECKED_ROWS } from "./devices/device-growth.ts";
import { createIngestBench, hostState, type IngestBench } from "./testing/bench.ts";
import { addForeign, type Foreign } from "./testing/foreign.ts";

const KEEP = 20;
let bench: IngestBench;
let hostile: ProbeAddress;
let honest: ProbeAddress;
/** Another tenant, which is looked at after each attack. */
let foreign: Foreign;
let queueId = "";
let after = 0;
beforeEach(async () => {
  bench = await createIngestBench({ silentAfterSeconds: 86_400, keep: { device_changes: KEEP, evidence: KEEP } });
  hostile = await bench.addProbe();
  honest = await bench.addProbe();
  foreign = await addForeign(bench);
  queueId = createId();
  after = 0;
});
afterEach(async () => {
  const { isUnharmed, sent, acknowledged, logged } = await foreign.outcome();
  await bench.close();
  expect({ isUnharmed, acknowledged, logged }).toEqual({ isUnharmed: true, acknowledged: sent, logged: sent });
});

const now = () => toInstant(bench.clock.now());
const send = async (events: readonly { readonly type: string }[]) => {
  expect(await bench.sendBatch(hostile, queueId, after, events)).toMatchObject({ watermark: after + events.length, refused: null });
  after += events.length;
};
const victim = { ip: "192.0.2.1", mac: "00:1b:21:00:00:01" };
const neighbor = { ip: "192.0.2.2", mac: "00:1b:21:00:00:02", hostname: "neighbor" };
const found = (host: Parameters<typeof hostState>[0]) => ({ type: "host_found", occurred_at: now(), data: hostState(host, now()) });
/** @param values As many things are said of the victim. */
const said = (values: readonly string[], hostname = "") => ({
  type: "host_changed", occurred_at: now(), data: {
    ...hostState({ ...victim, hostname }, now()), changed: ["evidence"],
    evidence: values.map((value) => ({ field: "service", value, source: "mdns", confidence: 0.5, seen_at: now() })),
  },
});
const evidenceOf = (mac: string) => bench.database.db.selectFrom("evidence").innerJoin("devices", "devices.id", "evidence.device_id")
  .selectAll("evidence").where("devices.mac", "=", mac).where("devices.tenant_id", "=", bench.tenantId).execute();
const changesOf = (mac: string) => bench.database.db.selectFrom("device_changes")
  .innerJoin("devices", "devices.id", "device_changes.device_id").selectAll("device_changes").where("devices.mac", "=", mac)
  .where("devices.tenant_id", "=", bench.tenantId).execute();

describe("what hangs on one device", () => {
  test("does not grow with its evidence: a batch of thousands of values leaves hundreds, and so does the tenth", async () => {
    await send([found(victim), found(neighbor)]);
    const before = await evidenceOf(neighbor.mac);
    expect(before.length).toBeGreaterThan(0);
    for (let round = 0; round < 10; round += 1) {
      await send(Array.from({ length: 50 }, (_, event) => said(Array.from({ length: 60 }, (__, index) => `${round} ${event} ${index}`))));
      expect((await evidenceOf(victim.mac)).length).toBeLessThanOrEqual(KEEP + MAX_UNCHECKED_ROWS);
    }
    expect(await evidenceOf(neighbor.mac)).toEqual(before);
  });

  test("nor by a few words in each of many batches, from two probes", async () => {
    await send([found(victim)]);
    const other = createId();
    for (let round = 0; round < 60; round += 1) {
      const values = (who: string) => Array.from({ length: 20 }, (_, index) => `${who} ${round} ${index}`);
      await bench.clock.advance(1000);
      await send([said(values("one"))]);
      expect(await bench.sendBatch(honest, other, round, [said(values("two"))])).toMatchObject({ watermark: round + 1 });
      expect((await evidenceOf(victim.mac)).length).toBeLessThanOrEqual(KEEP + MAX_UNCHECKED_ROWS);
    }
    // What is newest is there, whoever said it.
    const values = (await evidenceOf(victim.mac)).map(({ value }) => value);
    expect(values.filter((value) => value.includes(" 59 ")).length).toBeGreaterThanOrEqual(KEEP);
  });

  test("nor does its history, of which the newest stays", async () => {
    await send([found(victim)]);
    for (let round = 0; round < 6; round += 1) {
      await send(Array.from({ length: 200 }, (_, index) => said([], `name-${round}-${index}`)));
      expect((await changesOf(victim.mac)).length).toBeLessThanOrEqual(KEEP + MAX_UNCHECKED_ROWS);
    }
    expect((await changesOf(victim.mac)).map((row) => row.after)).toContain("name-5-199");
    expect(await bench.database.db.selectFrom("devices").select("hostname").where("tenant_id", "=", bench.tenantId).execute())
      .toEqual([{ hostname: "name-5-199" }]);
  });
});

describe("what nobody can read", () => {
  const strange = (bytes: number) => ({ type: "from_the_future", occurred_at: now(), data: { x: "x".repeat(bytes) } });
  const keptOf = async ({ probeId }: ProbeAddress) => (await bench.database.db.selectFrom("rejected_events").select("payload")
    .where("probe_id", "=", probeId).execute()).map(({ payload }) => payload.length);
  const bytesOf = async (probe: ProbeAddress) => (await keptOf(probe)).reduce((sum, length) => sum + length, 0);

  test("is kept of each probe up to four megabytes at once; of more it is counted alone, and another's is kept", async () => {
    for (let round = 0; round < 20; round += 1) await send(Array.from({ length: 100 }, () => strange(4000)));
    const bytes = await bytesOf(hostile);
    expect(bytes).toBeGreaterThan(4e6 - 500e3);
    expect(bytes).toBeLessThan(4e6 + 500e3);
    expect(await bench.sendBatch(honest, createId(), 0, [strange(10)])).toMatchObject({ watermark: 1, refused: null });
    expect((await keptOf(honest)).length).toBe(1);
    await bench.clock.advance(1000);
    const { refused } = await bench.database.db.selectFrom("probes").select("refused").where("id", "=", hostile.probeId)
      .executeTakeFirstOrThrow();
    expect(JSON.parse(refused)).toEqual({ "unreadable-event": 2000 });
    // What can be read is read, and later some is kept again.
    await send([found(victim), strange(10)]);
    expect(await bench.database.db.selectFrom("devices").select("mac").where("tenant_id", "=", bench.tenantId).execute())
      .toEqual([{ mac: victim.mac }]);
    const before = (await keptOf(hostile)).length;
    await bench.clock.advance(10 * 60_000);
    await send([strange(10)]);
    expect((await keptOf(hostile)).length).toBe(before + 1);
  });
});
