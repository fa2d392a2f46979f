import { accessTopic, probeTopic } from "@lanthorn/contract";
import { createId, silentLog, systemClock } from "@lanthorn/runtime";
import type { MqttClient } from "mqtt";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DebianRoot } from "../../../../test/lab/debian-packages.ts";
import { findMosquitto } from "../../../../test/system/mosquitto.ts";
import type { Broker, ProbeMessage } from "./broker.ts";
import { createExternalBroker } from "./external.ts";
import { issueProbe } from "./testing/bench.ts";
import { type ExternalBench, startExternal } from "./testing/brokers.ts";

const mosquitto = await findMosquitto();

describe.runIf(mosquitto !== null)("with mosquitto", () => {
  let bench: ExternalBench;
  const open: { close(): Promise<void> }[] = [];
  const clients: MqttClient[] = [];
  beforeEach(async () => {
    bench = await startExternal(mosquitto as DebianRoot);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.end(true);
    for (const broker of open.splice(0)) await broker.close();
    await bench.close();
  });
  const collector = async (name: string, to?: (message: ProbeMessage) => unknown): Promise<Broker> => {
    const broker = await bench.collector(name, to);
    open.push(broker);
    return broker;
  };
  const probe = async () => {
    const [tenantId, probeId] = [createId(), createId()];
    const client = await bench.connect({ probeId, identity: await issueProbe(bench.authority, probeId) });
    clients.push(client);
    return { tenantId, probeId, client };
  };

  test("collectors share what probes send, and each hears every status", async () => {
    const taken: Record<string, string[]> = { "lanthorn-collector": [], "lanthorn-collector-2": [], "lanthorn-collector-3": [] };
    for (const [name, list] of Object.entries(taken)) {
      await collector(name, ({ channel, payload }) => list.push(`${channel} ${payload.toString()}`));
    }
    const { tenantId, probeId, client } = await probe();
    for (let index = 0; index < 30; index += 1) {
      await client.publishAsync(probeTopic(tenantId, probeId, "events"), String(index), { qos: 1 });
    }
    await client.publishAsync(probeTopic(tenantId, probeId, "status"), "here", { qos: 1, retain: true });
    await expect.poll(() => Object.values(taken).flat().length).toBe(33);
    for (const list of Object.values(taken)) {
      expect(list.filter((text) => text === "status here")).toHaveLength(1);
      expect(list.length).toBeGreaterThan(1);
    }
    expect(new Set(Object.values(taken).flat()).size).toBe(31);
  });

  test("collectors tell each other whose access has changed, and take nobody else's word for it", async () => {
    const heard: string[] = [];
    const peers = { committed: () => {}, lost: () => {}, accessChanged: (tenantId: string) => heard.push(tenantId) };
    open.push(await bench.collector("lanthorn-collector", () => {}, peers));
    const other = await bench.collector("lanthorn-collector-2", () => {}, peers);
    open.push(other);
    const tenantId = createId();
    const { key, certificate } = await bench.authority.issueToCollector("lanthorn-collector-3");
    const forger = await bench.connect({ probeId: "forger", identity: { key, certificate } });
    clients.push(forger);
    for (const payload of ["lanthorn-collector-2", `lanthorn-collector-2 ${"0".repeat(64)}`, "", " "]) {
      await forger.publishAsync(accessTopic(tenantId), payload, { qos: 1 });
    }
    other.announceAccess(tenantId);
    await expect.poll(() => heard).toEqual([tenantId]);
  });

  test("a collector that comes later finds how its probes are", async () => {
    const { tenantId, probeId, client } = await probe();
    await client.publishAsync(probeTopic(tenantId, probeId, "status"), "here", { qos: 1, retain: true });
    const heard: ProbeMessage[] = [];
    await collector("lanthorn-collector", (message) => heard.push(message));
    await expect.poll(() => heard.map(({ channel, retained }) => [channel, retained])).toEqual([["status", true]]);
  });

  test("what comes after a collector has died goes to those that are left", async () => {
    const taken: string[] = [];
    await collector("lanthorn-collector", ({ payload }) => taken.push(payload.toString()));
    const dying = await bench.collector("lanthorn-collector-2");
    await dying.close();
    const { tenantId, probeId, client } = await probe();
    for (let index = 0; index < 20; index += 1) {
      await client.publishAsync(probeTopic(tenantId, probeId, "events"), String(index), { qos: 1 });
    }
    await expect.poll(() => taken).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
  });

  test("it is connected again after the broker was killed, and says so in between", async () => {
    const heard: string[] = [];
    const broker = await collector("lanthorn-collector", ({ payload }) => heard.push(payload.toString()));
    await bench.daemon().kill();
    await expect.poll(() => broker.health().status).toBe("degraded");
    await expect(broker.publish({ tenantId: createId(), probeId: createId() }, "acks", "x", { retain: false })).rejects.toBeDefined();
    await bench.start();
    await expect.poll(() => broker.health().status).toBe("ok");
    const { tenantId, probeId, client } = await probe();
    await client.publishAsync(probeTopic(tenantId, probeId, "health"), "back", { qos: 1 });
    await expect.poll(() => heard).toEqual(["back"]);
  });

  test("what the broker has not answered when it is killed is given up, so that nothing waits for it", async () => {
    const broker = await collector("lanthorn-collector");
    bench.daemon().pause();
    const published = broker.publish({ tenantId: createId(), probeId: createId() }, "acks", "x", { retain: false });
    // Looked at from the start: it fails while the daemon is still being waited for.
    const givenUp = expect(published).rejects.toThrow("connection to the broker was lost");
    await bench.daemon().kill();
    await givenUp;
  });
});

test("an unreachable broker does not stop the start, and its password is in no health text", async () => {
  const broker = createExternalBroker({
    name: "lanthorn-collector", group: "tested", announcementKey: new Uint8Array(32), url: "mqtt://user:hunter2@127.0.0.1:1", tls: null, clock: systemClock,
    random: () => 1, log: silentLog,
  });
  await broker.start({ receive: () => Promise.resolve(), refused: () => {} });
  await expect.poll(() => broker.health().detail).toContain("ECONNREFUSED");
  expect(broker.health().status).toBe("degraded");
  expect(broker.health().detail).not.toContain("hunter2");
  await broker.close();
});
