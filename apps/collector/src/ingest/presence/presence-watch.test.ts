import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProbeAddress } from "../../broker/broker.ts";
import { createIngestBench, hostState, type IngestBench } from "../testing/bench.ts";

let bench: IngestBench;
let probe: ProbeAddress;
const runId = createId();
beforeEach(async () => {
  bench = await createIngestBench();
  probe = await bench.addProbe();
});
afterEach(() => bench.close());

const now = () => toInstant(bench.clock.now());
type From = { readonly from?: ProbeAddress; readonly run?: string; readonly retained?: boolean };
const status = (state: "online" | "stopped" | "lost", options: From = {}) =>
  bench.send(
    options.from ?? probe, "status", { v: 1, state, version: "1", run_id: options.run ?? runId, at: now() }, options.retained ?? false,
  );
const stateOf = async (probeId = probe.probeId) => (await bench.database.db.selectFrom("probes").select("state").where("id", "=", probeId)
  .executeTakeFirstOrThrow()).state;
const presence = async () => (await bench.database.db.selectFrom("devices").select(["presence_state", "is_online"]).orderBy("ip_key")
  .execute()).map((row) => `${row.presence_state} ${row.is_online}`);
const logged = async () => (await bench.database.db.selectFrom("events").select(["type", "data"]).where("type", "<>", "host_found")
  .orderBy("seq").execute()).map((row) => row.type);
const find = async (from = probe) => {
  await bench.sendBatch(from, createId(), 0, [
    { type: "host_found", occurred_at: now(), data: hostState({ ip: "192.0.2.1", mac: "02:00:00:00:00:01" }, now()) },
    { type: "host_found", occurred_at: now(), data: hostState({ ip: "192.0.2.2", mac: "02:00:00:00:00:02" }, now()) },
    {
      type: "host_offline", occurred_at: now(), data: { ip: "192.0.2.2", mac: "02:00:00:00:00:02", last_seen_at: now(), missed_checks: 3 },
    },
  ] as never);
};

describe("a probe", () => {
  test("that says nothing for 90 s is silent: one event, its devices unknown and keeping how they last were, none offline", async () => {
    await status("online");
    await find();
    expect(await presence()).toEqual(["online 1", "offline 0"]);
    await bench.clock.advance(89_000);
    expect(await stateOf()).toBe("online");
    await bench.clock.advance(3000);
    expect(await stateOf()).toBe("silent");
    expect(await presence()).toEqual(["unknown 1", "unknown 0"]);
    await bench.clock.advance(600_000);
    expect(await logged()).toEqual(["host_offline", "probe_silent"]);
    const event = await bench.database.db.selectFrom("events").select("data").where("type", "=", "probe_silent").executeTakeFirstOrThrow();
    expect(JSON.parse(event.data)).toMatchObject({ code: "probe-silent", name: "probe", clean_stop: false });
  });

  test("is watched beside others at no cost of theirs: the broker is asked once for each check, not for each probe", async () => {
    const others = await Promise.all(Array.from({ length: 20 }, () => bench.addProbe()));
    for (const from of [probe, ...others]) await status("online", { from });
    const before = bench.healthChecks;
    await bench.clock.advance(10_000);
    expect(bench.healthChecks - before).toBe(10);
  });

  test("that is heard in between, by whatever message, is not", async () => {
    await status("online");
    for (let minutes = 0; minutes < 10; minutes += 1) {
      await bench.clock.advance(60_000);
      await bench.send(probe, "health", "not even health");
    }
    expect(await stateOf()).toBe("online");
    expect(await logged()).toEqual([]);
  });

  test("that stops in good order is silent at once, and says that it was a stop", async () => {
    await status("online");
    await find();
    await status("stopped");
    expect(await stateOf()).toBe("silent");
    expect(await presence()).toEqual(["unknown 1", "unknown 0"]);
    const event = await bench.database.db.selectFrom("events").select("data").where("type", "=", "probe_silent").executeTakeFirstOrThrow();
    expect(JSON.parse(event.data)).toMatchObject({ clean_stop: true });
  });

  test("whose connection broke is silent within seconds, unless it comes back", async () => {
    await status("online");
    await status("lost");
    await bench.clock.advance(3000);
    await status("online");
    await bench.clock.advance(20_000);
    expect(await logged()).toEqual([]);
    await status("lost");
    await bench.clock.advance(7000);
    expect(await logged()).toEqual(["probe_silent"]);
  });

  test("is not silenced by the last will of an earlier run, nor brought back by a message that the broker kept", async () => {
    await status("online");
    await status("lost", { run: createId() });
    await bench.clock.advance(20_000);
    expect(await stateOf()).toBe("online");
    await status("stopped");
    await status("online", { retained: true });
    expect(await stateOf()).toBe("silent");
  });

  test("that comes back is announced once; its devices are known again by what it then says of them", async () => {
    await status("online");
    await find();
    await bench.clock.advance(100_000);
    await status("online");
    expect(await stateOf()).toBe("online");
    expect(await presence()).toEqual(["unknown 1", "unknown 0"]);
    await bench.sendBatch(probe, createId(), 0, [{
      type: "presence_report", occurred_at: now(),
      data: { hosts: [{ ip: "192.0.2.1", mac: "02:00:00:00:00:01", last_seen_at: now(), presence_state: "online" }] },
    }]);
    expect(await presence()).toEqual(["online 1", "unknown 0"]);
    expect(await logged()).toEqual(["host_offline", "probe_silent", "probe_returned", "presence_report"]);
  });

  test("whose site another probe still watches leaves its devices as they are", async () => {
    const second = await bench.addProbe();
    await status("online");
    await status("online", { from: second });
    await find();
    await status("stopped");
    expect(await presence()).toEqual(["online 1", "offline 0"]);
    await bench.clock.advance(100_000);
    expect(await presence()).toEqual(["unknown 1", "unknown 0"]);
    expect(await logged()).toEqual(["host_offline", "probe_silent", "probe_silent"]);
  });

  test("that is revoked watches nothing any more, and nobody is alarmed", async () => {
    await status("online");
    await find();
    await bench.database.db.updateTable("probes").set({ revoked_at: now() }).where("id", "=", probe.probeId).execute();
    await bench.ingest.revoked(probe.probeId);
    expect(await presence()).toEqual(["unknown 1", "unknown 0"]);
    await bench.clock.advance(200_000);
    expect(await logged()).toEqual(["host_offline"]);
  });
});

describe("the watch", () => {
  test("goes on over a restart of the collector, with the whole time again from there", async () => {
    await status("online");
    await find();
    await bench.clock.advance(80_000);
    await bench.restart();
    await bench.clock.advance(80_000);
    expect(await logged()).toEqual(["host_offline"]);
    await bench.clock.advance(15_000);
    expect(await logged()).toEqual(["host_offline", "probe_silent"]);
    await bench.restart();
    await bench.clock.advance(200_000);
    expect(await logged()).toEqual(["host_offline", "probe_silent"]);
    await status("online");
    expect(await logged()).toEqual(["host_offline", "probe_silent", "probe_returned"]);
  });

  test("is not deceived when the wall clock is set, by an hour either way", async () => {
    await status("online");
    bench.clock.jump(3_600_000);
    await bench.clock.advance(5000);
    bench.clock.jump(-7_200_000);
    await bench.clock.advance(5000);
    expect(await stateOf()).toBe("online");
    await bench.clock.advance(90_000);
    expect(await stateOf()).toBe("silent");
  });

  test("blames no probe while messages cannot reach the collector, nor for the first while after", async () => {
    await status("online");
    bench.brokerUp = false;
    await bench.clock.advance(600_000);
    expect(await stateOf()).toBe("online");
    bench.brokerUp = true;
    await bench.clock.advance(80_000);
    expect(await stateOf()).toBe("online");
    await bench.clock.advance(20_000);
    expect(await stateOf()).toBe("silent");
  });

  test("blames no probe for a time in which this process stood still", async () => {
    await status("online");
    const before = bench.clock.monotonic.bind(bench.clock);
    bench.clock.monotonic = () => before() + 600_000;
    await bench.clock.advance(60_000);
    expect(await stateOf()).toBe("online");
    await bench.clock.advance(40_000);
    expect(await stateOf()).toBe("silent");
  });

  test("writes when a probe was last heard, now and then and at the end, not with each message", async () => {
    const heard = async () => (await bench.database.db.selectFrom("probes").select("last_heard_at").where("id", "=", probe.probeId)
      .executeTakeFirstOrThrow()).last_heard_at;
    await status("online");
    const first = now();
    await bench.clock.advance(5000);
    await status("online");
    expect(await heard()).toBe(first);
    await bench.clock.advance(15_000);
    await status("online");
    const second = now();
    await bench.clock.advance(2000);
    await expect.poll(heard).toBe(second);
    await status("online");
    const last = now();
    await bench.ingest.close();
    expect(await heard()).toBe(last);
  });
});
