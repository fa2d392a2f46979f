import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROBE_CHANNELS, type ProbeChannel, probeTopic } from "@lanthorn/contract";
import { createId, systemClock } from "@lanthorn/runtime";
import type { MqttClient } from "mqtt";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openAuthority } from "../certificates/authority.ts";
import { issueProbe } from "./testing/bench.ts";
import { brokerKinds, type BrokerUnderTest } from "./testing/brokers.ts";

const UP = Object.entries(PROBE_CHANNELS).filter(([, direction]) => direction === "up").map(([channel]) => channel);

describe.each(await brokerKinds())("with $name as the broker", ({ open }) => {
  let bench: BrokerUnderTest;
  const clients: MqttClient[] = [];
  beforeEach(async () => {
    bench = await open();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.end(true);
    await bench.close();
  });
  const connect = async (...args: Parameters<BrokerUnderTest["connect"]>) => {
    const client = await bench.connect(...args);
    clients.push(client);
    return client;
  };
  const received = (client: MqttClient) => {
    const texts: string[] = [];
    client.on("message", (topic, payload) => texts.push(`${topic.split("/").at(-1)} ${payload.toString()}`));
    return texts;
  };
  const texts = () => bench.messages.map(({ payload }) => payload.toString());

  test("a probe publishes to each of its own up topics and to nothing else, and its session goes on", async () => {
    const probe = await bench.enroll();
    const other = await bench.enroll();
    const client = await connect(probe);
    for (const channel of Object.keys(PROBE_CHANNELS) as ProbeChannel[]) {
      await client.publishAsync(probeTopic(other.tenantId, other.probeId, channel), "forged", { qos: 1 });
      await client.publishAsync(probeTopic(probe.tenantId, probe.probeId, channel), channel, { qos: 1 });
    }
    for (const topic of ["refused", "$SYS/x", "lanthorn/v1/x", `lanthorn/v1/${probe.tenantId}/stream`]) {
      await client.publishAsync(topic, "forged", { qos: 1 });
    }
    await expect.poll(texts).toEqual(UP);
    expect(bench.messages.every(({ tenantId, probeId }) => tenantId === probe.tenantId && probeId === probe.probeId)).toBe(true);
    expect(client.connected).toBe(true);
  });

  test("a probe hears what is said to it, and of others nothing, whatever it subscribes to", async () => {
    const probe = await bench.enroll();
    const other = await bench.enroll();
    const client = await connect(probe);
    const heard = received(client);
    for (const topic of [
      "#", "lanthorn/#", `lanthorn/v1/${probe.tenantId}/+/acks`, probeTopic(other.tenantId, other.probeId, "acks"),
      "$share/tested/lanthorn/v1/+/+/acks", probeTopic(probe.tenantId, probe.probeId, "events"),
    ]) await client.subscribeAsync(topic, { qos: 1 }).catch(() => {});
    await client.subscribeAsync(
      [probeTopic(probe.tenantId, probe.probeId, "acks"), probeTopic(probe.tenantId, probe.probeId, "config")], { qos: 1 },
    );
    await client.publishAsync(probeTopic(probe.tenantId, probe.probeId, "events"), "own", { qos: 1 });
    await bench.broker.publish(other, "acks", "not yours", { retain: false });
    await bench.broker.publish(probe, "config", "yours", { retain: false });
    await bench.broker.publish(probe, "acks", "yours", { retain: false });
    // A broker may say a thing once for each subscription that takes it in.
    await expect.poll(() => [...new Set(heard)]).toEqual(["config yours", "acks yours"]);
  });

  test("a probe finds its retained configuration when it comes, the last one", async () => {
    const probe = await bench.enroll();
    await bench.broker.publish(probe, "config", "one", { retain: true });
    await bench.broker.publish(probe, "config", "two", { retain: true });
    const client = await connect(probe);
    const heard = received(client);
    await client.subscribeAsync(probeTopic(probe.tenantId, probe.probeId, "config"), { qos: 1 });
    await expect.poll(() => heard).toEqual(["config two"]);
  });

  test("a probe whose connection breaks leaves its last will", async () => {
    const probe = await bench.enroll();
    const will = {
      topic: probeTopic(probe.tenantId, probe.probeId, "status"), payload: Buffer.from("lost"), qos: 1, retain: true,
    } as const;
    const client = await connect(probe, { will });
    client.stream.destroy();
    await expect.poll(() => bench.messages.map(({ channel, payload }) => [channel, payload.toString()])).toEqual([["status", "lost"]]);
  });

  test("10 MB reach no collector, and the session goes on", async () => {
    const probe = await bench.enroll();
    const client = await connect(probe);
    const events = probeTopic(probe.tenantId, probe.probeId, "events");
    await client.publishAsync(events, Buffer.alloc(10 * 1024 * 1024), { qos: 1 });
    await client.publishAsync(events, "small", { qos: 1 });
    await expect.poll(texts).toEqual(["small"]);
    expect(client.connected).toBe(true);
  });

  test("what a probe sends with QoS 2 reaches no collector, and others are served", async () => {
    const [probe, other] = [await bench.enroll(), await bench.enroll()];
    const client = await connect(probe);
    client.on("error", () => {});
    // One broker takes it for nothing, the other ends the connection.
    const ended = new Promise<void>((resolve) => client.once("close", () => resolve()));
    const taken = client.publishAsync(probeTopic(probe.tenantId, probe.probeId, "events"), "kept", { qos: 2 }).catch(() => {});
    await Promise.race([taken, ended]);
    await (await connect(other)).publishAsync(probeTopic(other.tenantId, other.probeId, "events"), "own", { qos: 1 });
    await expect.poll(texts).toEqual(["own"]);
  });

  test("nobody comes in without a certificate, with another authority's, or with a server's", async () => {
    const { probeId } = await bench.enroll();
    await expect(bench.connect({ probeId, identity: {} })).rejects.toBeDefined();
    const otherDir = mkdtempSync(join(tmpdir(), "lanthorn-other-"));
    const other = await openAuthority({ dataDir: otherDir, clock: systemClock });
    await expect(bench.connect({ probeId, identity: await issueProbe(other, probeId) })).rejects.toBeDefined();
    await expect(bench.connect({ probeId, identity: await bench.authority.issueToServer([probeId]) })).rejects.toBeDefined();
    rmSync(otherDir, { recursive: true });
  });

  test("a probe that names another's client id ends nobody's session and hears nothing of it", async () => {
    const victim = await bench.enroll();
    const thief = await bench.enroll();
    const client = await connect(victim);
    const heard = received(client);
    await client.subscribeAsync(probeTopic(victim.tenantId, victim.probeId, "commands"), { qos: 1 });
    let closings = 0;
    client.on("close", () => (closings += 1));
    // One broker refuses it, the other lets it in under its own name.
    const stolen = await connect(thief, { clientId: victim.probeId, clean: false }).then((session) => received(session), () => []);
    await bench.broker.publish(victim, "commands", "for you", { retain: false });
    await expect.poll(() => heard).toEqual(["commands for you"]);
    expect([closings, stolen]).toEqual([0, []]);
  });

  test("what is said to a probe that is away is kept for nobody", async () => {
    const probe = await bench.enroll();
    await (await connect(probe)).endAsync();
    await bench.broker.publish({ tenantId: probe.tenantId, probeId: probe.probeId }, "commands", "too late", { retain: false });
    const client = await connect(probe);
    const heard = received(client);
    await client.subscribeAsync(probeTopic(probe.tenantId, probe.probeId, "commands"), { qos: 1 });
    await bench.broker.publish(probe, "commands", createId(), { retain: false });
    await expect.poll(() => heard.length).toBe(1);
    expect(heard[0]).not.toContain("too late");
  });
});
