import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { PROBE_CHANNELS, type ProbeChannel, probeTopic } from "@lanthorn/contract";
import { createFakeClock, createId, seededRandom, systemClock } from "@lanthorn/runtime";
import type { MqttClient } from "mqtt";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openAuthority } from "../certificates/authority.ts";
import { type BrokerBench, issueProbe, startBrokerBench } from "./testing/bench.ts";

let dataDir = "";
let bench: BrokerBench;
const clients: MqttClient[] = [];
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-broker-"));
  bench = await startBrokerBench({ dataDir });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.end(true);
  await bench.broker.close();
  rmSync(dataDir, { recursive: true });
});

const connect = async (...args: Parameters<BrokerBench["connect"]>) => {
  const client = await bench.connect(...args);
  clients.push(client);
  return client;
};

const closing = (client: MqttClient) => new Promise<void>((resolve) => client.once("close", resolve));

test("what a probe is answered comes in one piece: the broker's word and the collector's", async () => {
  const probe = await bench.enroll();
  const client = await connect(probe);
  await client.subscribeAsync(probeTopic(probe.tenantId, probe.probeId, "acks"), { qos: 1 });
  let commit = () => {};
  bench.hold = new Promise((resolve) => {
    commit = resolve;
  });
  const pieces: Buffer[] = [];
  client.stream.on("data", (piece: Buffer) => pieces.push(piece));
  const published = client.publishAsync(probeTopic(probe.tenantId, probe.probeId, "events"), "a batch", { qos: 1 });
  await expect.poll(() => bench.messages.length).toBe(1);
  await bench.broker.publish(probe, "acks", "committed", { retain: false });
  expect(pieces).toEqual([]);
  commit();
  await published;
  expect(pieces).toHaveLength(1);
  expect(pieces[0]?.toString()).toContain("committed");
});

test("an acknowledgement is not confirmed by its probe, and a command is", async () => {
  const probe = await bench.enroll();
  const client = await connect(probe);
  const topics = (["acks", "commands"] as const).map((channel) => probeTopic(probe.tenantId, probe.probeId, channel));
  await client.subscribeAsync(topics, { qos: 1 });
  const heard: [topic: string, qos: number][] = [];
  client.on("message", (topic, _payload, { qos }) => heard.push([topic, qos]));
  await bench.broker.publish(probe, "acks", "{}", { retain: false });
  await bench.broker.publish(probe, "commands", "{}", { retain: false });
  await expect.poll(() => heard).toEqual([[topics[0], 0], [topics[1], 1]]);
});

test("a probe that only publishes is there as long as it does", async () => {
  const probe = await bench.enroll();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const client = await connect(probe, { keepalive: 2 });
    const closed = closing(client);
    for (let round = 1; round <= 5; round += 1) {
      await vi.advanceTimersByTimeAsync(1500);
      await Promise.race([closed, client.publishAsync(probeTopic(probe.tenantId, probe.probeId, "events"), "a batch", { qos: 1 })]);
      expect(client.connected).toBe(true);
    }
    expect(bench.messages).toHaveLength(5);
  } finally {
    vi.useRealTimers();
  }
});

describe("who is let in", () => {
  test("a probe with our certificate under its own name", async () => {
    const probe = await bench.enroll();
    const client = await connect(probe);
    expect(client.connected).toBe(true);
    await expect.poll(() => bench.broker.sessions()).toBe(1);
    expect(bench.broker.health()).toMatchObject({ status: "ok" });
  });

  test("nobody without a certificate, with another authority's, or with a server's", async () => {
    const { probeId } = await bench.enroll();
    await expect(bench.connect({ probeId, identity: {} })).rejects.toBeDefined();
    const otherDir = mkdtempSync(join(tmpdir(), "lanthorn-other-"));
    const other = await openAuthority({ dataDir: otherDir, clock: systemClock });
    await expect(bench.connect({ probeId, identity: await issueProbe(other, probeId) })).rejects.toBeDefined();
    await expect(bench.connect({ probeId, identity: await bench.authority.issueToServer([probeId]) })).rejects.toBeDefined();
    await expect(bench.connect({ probeId, identity: await bench.authority.issueToCollector("lanthorn-collector") })).rejects.toBeDefined();
    rmSync(otherDir, { recursive: true });
    expect(bench.broker.sessions()).toBe(0);
  });

  test("nobody whose certificate has ended; a session ends with its certificate", async () => {
    await bench.broker.close();
    const clock = createFakeClock(Date.now() - 89.9 * 86_400_000);
    bench = await startBrokerBench({ dataDir, clock });
    const soon = await bench.enroll();
    const client = await connect(soon);
    const closed = closing(client);
    clock.jump(90 * 86_400_000);
    await clock.advance(60_000);
    await closed;
    clock.jump(-110 * 86_400_000);
    await expect(bench.connect({ probeId: soon.probeId, identity: await issueProbe(bench.authority, soon.probeId) })).rejects.toBeDefined();
  });

  test("no revoked probe, and a live session ends at once when it is revoked", async () => {
    const probe = await bench.enroll();
    const client = await connect(probe);
    const closed = closing(client);
    bench.admitted.delete(probe.probeId);
    bench.broker.disconnect(probe.probeId);
    await closed;
    await expect(bench.connect(probe)).rejects.toMatchObject({ code: 5 });
  });

  test("nobody under another probe's client identifier, whose session stays", async () => {
    const victim = await bench.enroll();
    const thief = await bench.enroll();
    const client = await connect(victim);
    await expect(bench.connect(thief, { clientId: victim.probeId })).rejects.toMatchObject({ code: 2 });
    await expect(bench.connect(thief, { clientId: "#" })).rejects.toMatchObject({ code: 2 });
    expect(bench.refusals).toContainEqual({ probeId: thief.probeId, reason: "wrong-client-id", channel: null });
    await client.publishAsync(probeTopic(victim.tenantId, victim.probeId, "health"), "still here", { qos: 1 });
    await expect.poll(() => bench.messages.length).toBe(1);
  });

  test("at most as many connections without a certificate from one address as the limit says; the oldest makes room", async () => {
    await bench.broker.close();
    bench = await startBrokerBench({ dataDir, limits: { connections: 100, strangersPerAddress: 3 } });
    const open = new Set<Socket>();
    const unknown = Array.from({ length: 3 }, () => connectTcp(bench.broker.port(), "127.0.0.1"));
    for (const socket of unknown) {
      open.add(socket.on("error", () => {}));
      socket.on("close", () => open.delete(socket));
      await once(socket, "connect");
    }
    for (const count of [1, 2, 3]) {
      expect([count, (await connect(await bench.enroll())).connected]).toEqual([count, true]);
      // Each probe was a stranger until it had shown its certificate.
      await expect.poll(() => open.size).toBe(2);
    }
    for (const socket of open) socket.destroy();
  });

  test("a probe where other addresses hold every connection without a certificate", async () => {
    await bench.broker.close();
    bench = await startBrokerBench({ dataDir, limits: { connections: 20, strangersPerAddress: 10 } });
    const idle = Array.from({ length: 20 }, (_, index) =>
      connectTcp({ port: bench.broker.port(), host: "127.0.0.1", localAddress: `127.0.0.${2 + (index % 4)}` }));
    for (const socket of idle) socket.on("error", () => {});
    await Promise.all(idle.map((socket) => once(socket, "connect")));
    expect((await connect(await bench.enroll())).connected).toBe(true);
    for (const socket of idle) socket.destroy();
  });
});

describe("what a probe may do", () => {
  test("publish to each of its own up topics and to nothing else, and the session goes on", async () => {
    const probe = await bench.enroll();
    const other = await bench.enroll();
    const client = await connect(probe);
    for (const channel of Object.keys(PROBE_CHANNELS) as ProbeChannel[]) {
      await client.publishAsync(probeTopic(probe.tenantId, probe.probeId, channel), channel, { qos: 1, retain: true });
      await client.publishAsync(probeTopic(other.tenantId, other.probeId, channel), channel, { qos: 2 });
    }
    for (const topic of [
      "refused", "$SYS/x", "lanthorn/v1/x", `lanthorn/v1/${probe.tenantId}/stream`, "a/".repeat(40),
    ]) await client.publishAsync(topic, "x", { qos: 1 });
    const up = Object.entries(PROBE_CHANNELS).filter(([, direction]) => direction === "up").map(([channel]) => channel);
    await expect.poll(() => bench.messages.map((message) => message.channel)).toEqual(up);
    expect(bench.messages.every((message) => message.probeId === probe.probeId && message.tenantId === probe.tenantId)).toBe(true);
    expect(bench.refusals.length).toBe(3 + 7 + 5);
    expect(bench.refusals.every((refusal) => refusal.reason === "wrong-topic" && refusal.probeId === probe.probeId)).toBe(true);
    expect(client.connected).toBe(true);
  });

  test("subscribe to its own down topics, and to no wildcard and no other's", async () => {
    const probe = await bench.enroll();
    const other = await bench.enroll();
    const client = await connect(probe);
    const grants = await client.subscribeAsync(
      [probeTopic(probe.tenantId, probe.probeId, "acks"), probeTopic(probe.tenantId, probe.probeId, "config")], { qos: 1 },
    );
    expect(grants.map((grant) => grant.qos)).toEqual([1, 1]);
    for (const topic of [
      "#", "lanthorn/#", `lanthorn/v1/${probe.tenantId}/+/acks`, probeTopic(other.tenantId, other.probeId, "acks"),
      probeTopic(probe.tenantId, probe.probeId, "events"),
    ]) {
      await expect(client.subscribeAsync(topic)).rejects.toBeDefined();
    }
    const received: string[] = [];
    client.on("message", (topic, payload) => received.push(`${topic.split("/").at(-1)} ${payload.toString()}`));
    await bench.broker.publish(other, "acks", "not yours", { retain: false });
    await bench.broker.publish(probe, "acks", "yours", { retain: false });
    await expect.poll(() => received).toEqual(["acks yours"]);
  });

  test("leave a last will on its own status, and none on another's", async () => {
    const probe = await bench.enroll();
    const other = await bench.enroll();
    const status = probeTopic(probe.tenantId, probe.probeId, "status");
    const good = await connect(probe, { will: { topic: status, payload: Buffer.from("lost"), qos: 1, retain: true } });
    const bad = await connect(other, { will: { topic: status, payload: Buffer.from("forged"), qos: 1, retain: false } });
    bad.stream.destroy();
    await expect.poll(() => bench.refusals).toEqual([{ probeId: other.probeId, reason: "wrong-topic", channel: null }]);
    good.stream.destroy();
    await expect.poll(() => bench.messages.map((message) => message.payload.toString())).toEqual(["lost"]);
  });
});

describe("what a probe cannot do", () => {
  test("make the broker hold 10 MB: it is refused, answered, and the session goes on", async () => {
    const probe = await bench.enroll();
    const client = await connect(probe);
    const events = probeTopic(probe.tenantId, probe.probeId, "events");
    const payload = Buffer.alloc(10 * 1024 * 1024, 0x61);
    await client.publishAsync(events, payload, { qos: 1 });
    await client.publishAsync(events, payload, { qos: 0 });
    await client.publishAsync(events, payload, { qos: 2 });
    await client.publishAsync(events, "small", { qos: 1 });
    await expect.poll(() => bench.messages.map((message) => message.payload.toString())).toEqual(["small"]);
    expect(bench.refusals).toEqual(Array.from({ length: 3 }, () => ({ probeId: probe.probeId, reason: "too-large", channel: "events" })));
    expect(client.connected).toBe(true);
  });

  test("make the broker keep messages of QoS 2 that it never releases: none is taken, and the second ends the connection", async () => {
    const probe = await bench.enroll();
    const other = await connect(await bench.enroll());
    const events = probeTopic(probe.tenantId, probe.probeId, "events");
    const socket = connectTls({
      port: bench.broker.port(), host: "127.0.0.1", ca: bench.authority.certificate, cert: probe.identity.certificate, key: probe.identity.key,
    });
    const heard: number[] = [];
    socket.on("data", (bytes: Buffer) => heard.push(...bytes));
    socket.on("error", () => {});
    const ended = new Promise((resolve) => socket.once("close", resolve));
    await once(socket, "secureConnect");
    const text = (value: string) => Buffer.concat([Buffer.from([value.length >> 8, value.length & 0xff]), Buffer.from(value)]);
    const connectBody = Buffer.concat([text("MQTT"), Buffer.from([4, 2, 0, 60]), text(probe.probeId)]);
    socket.write(Buffer.concat([Buffer.from([0x10, connectBody.length]), connectBody]));
    await expect.poll(() => heard.slice(0, 4)).toEqual([0x20, 2, 0, 0]);
    const publish = (identifier: number) => {
      const body = Buffer.concat([text(events), Buffer.from([0, identifier]), Buffer.alloc(700_000)]);
      const length = Buffer.from([(body.length & 0x7f) | 0x80, ((body.length >> 7) & 0x7f) | 0x80, body.length >> 14]);
      socket.write(Buffer.concat([Buffer.from([0x34]), length, body]));
    };
    publish(1);
    await expect.poll(() => heard.slice(4)).toEqual([0x50, 2, 0, 1]);
    for (let identifier = 2; identifier <= 50; identifier += 1) publish(identifier);
    await ended;
    expect(bench.messages).toEqual([]);
    expect(bench.refusals[0]).toEqual({ probeId: probe.probeId, reason: "qos-2", channel: "events" });
    expect(other.connected).toBe(true);
  });

  test("be read faster than its messages are taken", async () => {
    const probe = await bench.enroll();
    const client = await connect(probe);
    let release = () => {};
    bench.hold = new Promise((resolve) => (release = resolve));
    const events = probeTopic(probe.tenantId, probe.probeId, "events");
    const sent = Array.from({ length: 64 }, () => client.publishAsync(events, Buffer.alloc(512 * 1024), { qos: 1 }));
    await expect.poll(() => bench.messages.length).toBeGreaterThan(0);
    // One is read while aedes hands over the one before it.
    await new Promise<void>((resolve) => connectTcp(bench.broker.port(), "127.0.0.1").end().once("close", resolve));
    expect(bench.messages.length).toBeLessThanOrEqual(3);
    release();
    bench.hold = Promise.resolve();
    await Promise.all(sent);
    await expect.poll(() => bench.messages.length).toBe(64);
  });

  test("stop the broker with 5,000 seeded connections' worth of nonsense", async () => {
    const random = seededRandom(42);
    const { identity, probeId } = await bench.enroll();
    const hello = Buffer.concat([
      Buffer.from([0x10, 12 + probeId.length, 0, 4]), Buffer.from("MQTT"), Buffer.from([4, 2, 0, 30, 0, probeId.length]),
      Buffer.from(probeId),
    ]);
    const nonsense = () => {
      const bytes = Buffer.alloc(1 + random(60), 0).map(() => random(256));
      // Half of them begin as a packet of a known kind with a length that fits.
      if (random(2) === 0) Buffer.from([(1 + random(14)) << 4 | random(16), bytes.length]).copy(bytes);
      return bytes;
    };
    let sent = 0;
    while (sent < 5000) {
      const socket = connectTls({
        port: bench.broker.port(), host: "127.0.0.1", ca: bench.authority.certificate, key: identity.key, cert: identity.certificate,
      });
      socket.on("error", () => {});
      const closed = once(socket, "close").catch(() => undefined);
      await once(socket, "secureConnect");
      socket.resume();
      const pieces = Array.from({ length: 100 }, nonsense);
      sent += pieces.length;
      socket.end(Buffer.concat(random(2) === 0 ? [hello, ...pieces] : pieces));
      await closed;
    }
    const probe = await bench.enroll();
    const client = await connect(probe);
    await client.publishAsync(probeTopic(probe.tenantId, probe.probeId, "health"), "fine", { qos: 1 });
    await expect.poll(() => bench.messages.at(-1)?.payload.toString()).toBe("fine");
  });

  test("use an identity that is none of ours", async () => {
    const identity = await issueProbe(bench.authority, "a/+/#");
    await expect(bench.connect({ probeId: createId(), identity })).rejects.toBeDefined();
  });
});
