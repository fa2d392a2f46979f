import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProbeAddress } from "../../broker/broker.ts";
import { refuseHostname, refuseWrites } from "../../testing/database.ts";
import { createIngestBench, hostState, type IngestBench } from "../testing/bench.ts";

let bench: IngestBench;
let probes: readonly ProbeAddress[] = [];
beforeEach(async () => {
  bench = await createIngestBench();
  const otherSite = createId();
  await bench.database.db.insertInto("sites").values({
    id: otherSite, tenant_id: bench.tenantId, name: "other", created_at: toInstant(bench.clock.now()), probe_configuration: "{}",
  }).execute();
  const added: ProbeAddress[] = [];
  for (let index = 0; index < 20; index += 1) added.push(await bench.addProbe(index % 2 === 0 ? undefined : otherSite));
  probes = added;
  // Each has been heard: what is measured below is what they say then.
  for (const probe of probes) await bench.sendBatch(probe, createId(), 0, [found("first", probes.indexOf(probe))]);
  bench.published.length = 0;
  bench.transactions.length = 0;
});
afterEach(() => bench.close());

function found(hostname: string, index: number) {
  const at = toInstant(bench.clock.now());
  return {
    type: "host_found", occurred_at: at,
    data: hostState({ ip: `192.0.2.${index}`, mac: `02:00:00:00:01:${index.toString(16).padStart(2, "0")}`, hostname }, at),
  } as const;
}

const stored = async (queues: readonly string[]) => (await bench.database.db.selectFrom("events").select(["queue_id", "seq"])
  .where("queue_id", "in", queues).orderBy("seq").execute());

describe("batches of several probes that arrive together", () => {
  test("are committed together, in one order, and each is acknowledged for itself", async () => {
    const queues = probes.map(() => createId());
    const acks = await Promise.all(
      probes.map((probe, index) => bench.sendBatch(probe, queues[index] as string, 0, [found("second", index)])),
    );
    expect(acks.map((ack) => [ack?.queue_id, ack?.watermark])).toEqual(queues.map((queue) => [queue, 1]));
    // What comes while the first is under way goes with the next.
    expect(bench.published.length).toBeLessThanOrEqual(3);
    expect(bench.transactions).toHaveLength(bench.published.length);
    expect(bench.transactions.reduce((sum, batches) => sum + batches, 0)).toBe(probes.length);
    const rows = await stored(queues);
    expect(new Set(rows.map(({ queue_id }) => queue_id))).toEqual(new Set(queues));
    expect(rows).toHaveLength(queues.length);
    const from = bench.published[0] ?? 0;
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => from + index));
  });

  test("a large one in pieces, between which others come, and once however often it comes", async () => {
    const [large, small] = probes as [ProbeAddress, ProbeAddress];
    const at = toInstant(bench.clock.now());
    const events = Array.from({ length: 60 }, (_, index) => {
      const event = found("large", index + 100);
      const evidence = Array.from({ length: 60 }, (__, row) => (
        { field: "hostname", value: `${row}-${"x".repeat(180)}`, source: "mdns", confidence: 0.5, seen_at: at }
      ));
      return { ...event, data: { ...event.data, evidence } };
    });
    const [queue, other] = [createId(), createId()];
    const [ack, ownAck] = await Promise.all([
      bench.sendBatch(large, queue, 0, events), bench.sendBatch(small, other, 0, [found("small", 1)]),
    ]);
    expect([ack?.watermark, ack?.refused, ownAck?.watermark]).toEqual([60, null, 1]);
    const seqs = (await stored([queue])).map(({ seq }) => seq);
    expect(seqs).toHaveLength(60);
    const [between] = await stored([other]);
    expect(between?.seq).toBeLessThan(seqs.at(-1) ?? 0);
    expect((await bench.sendBatch(large, queue, 0, events))?.watermark).toBe(60);
    expect(await stored([queue])).toHaveLength(60);
  });

  test("one that is here already, one behind a gap and a fresh one: each gets its own answer", async () => {
    const [a, b, c] = probes as [ProbeAddress, ProbeAddress, ProbeAddress];
    const queue = createId();
    await bench.sendBatch(a, queue, 0, [found("second", 0)]);
    const acks = await Promise.all([
      bench.sendBatch(a, queue, 0, [found("second", 0)]), bench.sendBatch(b, createId(), 7, [found("second", 1)]),
      bench.sendBatch(c, createId(), 0, [found("second", 2)]),
    ]);
    expect(acks.map((ack) => [ack?.watermark, ack?.refused?.code])).toEqual([[1, undefined], [0, "gap"], [1, undefined]]);
    expect(await stored([queue])).toHaveLength(1);
  });

  test("change each site for itself, where two sites have hosts of one address, MAC and key", async () => {
    const [here, there] = probes as [ProbeAddress, ProbeAddress];
    const at = toInstant(bench.clock.now());
    const event = (hostname: string, mac: string, type: "host_found" | "host_offline") => {
      const state = hostState({ ip: "10.0.0.1", mac, hostname }, at);
      const key = { field: "ssh_host_key", value: `ssh-ed25519 SHA256:${"k".repeat(43)}`, source: "ssh", confidence: 1, seen_at: at };
      return type === "host_found"
        ? { type, occurred_at: at, data: { ...state, evidence: [...state.evidence, key] } }
        : { type, occurred_at: at, data: { ip: "10.0.0.1", mac, last_seen_at: at, missed_checks: 3 } };
    };
    const mac = "00:1b:63:00:00:07";
    const queues = [createId(), createId()] as const;
    await Promise.all([
      bench.sendBatch(here, queues[0], 0, [event("one", mac, "host_found"), event("", "", "host_found")]),
      bench.sendBatch(there, queues[1], 0, [event("two", mac, "host_found")]),
    ]);
    await Promise.all([
      bench.sendBatch(here, queues[0], 2, [event("one", mac, "host_offline")]),
      bench.sendBatch(there, queues[1], 1, [event("two", "00:1b:63:00:00:08", "host_found")]),
    ]);
    const rows = await bench.database.db.selectFrom("devices").innerJoin("probes", "probes.site_id", "devices.site_id")
      .select(["probes.id as probe", "devices.hostname", "devices.presence_state", "devices.mac_count"])
      .where("devices.ip", "=", "10.0.0.1").where("probes.id", "in", [here.probeId, there.probeId]).orderBy("devices.hostname").execute();
    expect(rows).toEqual([
      { probe: here.probeId, hostname: "one", presence_state: "offline", mac_count: 1 },
      { probe: there.probeId, hostname: "two", presence_state: "online", mac_count: 2 },
    ]);
  });

  test("do not suffer from one that the database does not take", async () => {
    await refuseHostname(bench.database, "poison");
    const queues = probes.map(() => createId());
    await Promise.all(probes.map((probe, index) => bench.sendBatch(probe, queues[index] as string, 0, [
      found(index === 7 ? "poison" : "fine", 100 + index),
    ])));
    expect(new Set((await stored(queues)).map(({ queue_id }) => queue_id))).toEqual(new Set(queues.filter((_, index) => index !== 7)));
    expect(await bench.database.db.selectFrom("rejected_events").select("queue_id").execute()).toEqual([{ queue_id: queues[7] }]);
    expect(bench.acks.filter(({ ack }) => queues.includes(ack.queue_id ?? "")).map(({ ack }) => ack.watermark)).toEqual(probes.map(() =>
      1));
  });

  test("are all sent again after the database could not be written", async () => {
    const queues = probes.map(() => createId());
    const sendAll = () =>
      Promise.all(probes.map((probe, index) => bench.sendBatch(probe, queues[index] as string, 0, [found("second", index)])));
    const allow = await refuseWrites(bench.database);
    expect(await sendAll()).toEqual(probes.map(() => undefined));
    await allow();
    expect((await sendAll()).map((ack) => ack?.watermark)).toEqual(probes.map(() => 1));
    expect(await stored(queues)).toHaveLength(20);
  });
});
