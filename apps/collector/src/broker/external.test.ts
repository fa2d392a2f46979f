import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { probeTopic } from "@lanthorn/contract";
import { createId, silentLog, systemClock } from "@lanthorn/runtime";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DebianRoot, unpackDebianPackages } from "../../../../test/lab/debian-packages.ts";
import { type Authority, openAuthority } from "../certificates/authority.ts";
import type { Broker, ProbeMessage } from "./broker.ts";
import { createExternalBroker } from "./external.ts";
import { connectProbe, issueProbe } from "./testing/bench.ts";

const debian: DebianRoot | null = await unpackDebianPackages(["mosquitto"]).catch((error: unknown) => {
  process.stderr.write(`no mosquitto here, so the external broker is NOT tested: ${String(error)}\n`);
  return null;
});

const RULES = ["events", "status", "health", "replies"].map((channel) => `pattern write lanthorn/v1/+/%u/${channel}`)
  .concat(
    ["acks", "commands", "config"].map((channel) => `pattern read lanthorn/v1/+/%u/${channel}`), "user lanthorn-collector",
    "topic readwrite lanthorn/v1/#",
  );

describe.runIf(debian !== null)("with mosquitto", () => {
  const directory = mkdtempSync(join(tmpdir(), "lanthorn-mosquitto-"));
  let authority: Authority;
  let port = 0;
  let daemon: ChildProcess | null = null;
  let broker: Broker;
  const messages: ProbeMessage[] = [];
  const refusals: string[] = [];

  const startDaemon = async () => {
    const { path, env } = (debian as DebianRoot).command("mosquitto");
    daemon = spawn(path, ["-c", join(directory, "mosquitto.conf")], { env: { ...process.env, ...env }, stdio: "ignore" });
    await once(daemon, "spawn");
  };
  const stopDaemon = async () => {
    const running = daemon;
    daemon = null;
    if (!running) return;
    const ended = once(running, "exit");
    running.kill("SIGKILL");
    await ended;
  };
  const isUp = () => expect.poll(() => broker.health().status, { timeout: 15_000 }).toBe("ok");

  beforeAll(async () => {
    authority = await openAuthority({ dataDir: directory, clock: systemClock });
    const server = await authority.issueToServer(["127.0.0.1"]);
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    port = (probe.address() as AddressInfo).port;
    probe.close();
    const file = (name: string, text: string) => {
      writeFileSync(join(directory, name), text, { mode: 0o600 });
      return join(directory, name);
    };
    file("mosquitto.conf", [
      "user root", `listener ${port} 127.0.0.1`, `cafile ${file("ca-certificate.pem", authority.certificate)}`,
      `certfile ${file("broker.pem", server.certificate)}`,
      `keyfile ${file("broker.key", server.key)}`, "require_certificate true", "use_identity_as_username true",
      "use_username_as_clientid true", "allow_anonymous false",
      "message_size_limit 1048576", `acl_file ${file("rules", `${RULES.join("\n")}\n`)}`, "",
    ].join("\n"));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  beforeEach(async () => {
    await startDaemon();
    const { key, certificate } = await authority.issueToCollector();
    broker = createExternalBroker({
      url: `mqtts://127.0.0.1:${port}`, tls: { ca: authority.certificate, key, certificate }, clock: systemClock, random: () => 0.1,
      log: silentLog,
    });
    messages.length = 0;
    refusals.length = 0;
    await broker.start({
      receive: (message) => Promise.resolve(void messages.push(message)),
      refused: (_probe, reason) => void refusals.push(reason),
    });
    await isUp();
  });
  afterEach(async () => {
    await broker.close();
    await stopDaemon();
  });

  test("messages and acknowledgements go both ways, and a status is there for a collector that comes later", async () => {
    const [tenantId, probeId] = [createId(), createId()];
    const client = await connectProbe(port, authority.certificate, await issueProbe(authority, probeId), { clientId: probeId });
    const received: string[] = [];
    client.on("message", (_topic, payload) => received.push(payload.toString()));
    await client.subscribeAsync([probeTopic(tenantId, probeId, "acks"), probeTopic(tenantId, probeId, "config")], { qos: 1 });
    await client.publishAsync(probeTopic(tenantId, probeId, "events"), "batch", { qos: 1 });
    await client.publishAsync(probeTopic(tenantId, probeId, "status"), "here", { qos: 1, retain: true });
    await expect.poll(() => messages.map(({ payload, ...rest }) => ({ ...rest, text: payload.toString() }))).toEqual([
      { tenantId, probeId, channel: "events", retained: false, text: "batch" },
      { tenantId, probeId, channel: "status", retained: false, text: "here" },
    ]);
    await broker.publish({ tenantId, probeId }, "acks", "taken", { retain: false });
    await expect.poll(() => received).toEqual(["taken"]);

    const { key, certificate } = await authority.issueToCollector();
    const second = createExternalBroker({
      url: `mqtts://127.0.0.1:${port}`, tls: { ca: authority.certificate, key, certificate }, clock: systemClock, random: () => 0.1,
      log: silentLog,
    });
    const later: ProbeMessage[] = [];
    // With `use_username_as_clientid` the second collector takes the first one's place, as a restarted one does.
    await broker.close();
    await second.start({ receive: (message) => Promise.resolve(void later.push(message)), refused: () => {} });
    await expect.poll(() => later.map((message) => [message.channel, message.retained])).toEqual([["status", true]]);
    await second.close();
    client.end(true);
  });

  test("the rules keep a probe to its own topics, and 10 MB away from the collector, while the session goes on", async () => {
    const [tenantId, probeId, otherId] = [createId(), createId(), createId()];
    const client = await connectProbe(port, authority.certificate, await issueProbe(authority, probeId), { clientId: probeId });
    await client.publishAsync(probeTopic(tenantId, otherId, "events"), "forged", { qos: 1 });
    await client.publishAsync(probeTopic(tenantId, probeId, "acks"), "forged", { qos: 1 });
    await client.publishAsync(probeTopic(tenantId, probeId, "events"), Buffer.alloc(10 * 1024 * 1024), { qos: 1 });
    await client.publishAsync(probeTopic(tenantId, probeId, "events"), "own", { qos: 1 });
    await expect.poll(() => messages.map((message) => message.payload.toString())).toEqual(["own"]);
    expect(client.connected).toBe(true);
    client.end(true);
  });

  test("it is connected again after the broker was killed, and says so in between", async () => {
    await stopDaemon();
    await expect.poll(() => broker.health().status).toBe("degraded");
    await expect(broker.publish({ tenantId: createId(), probeId: createId() }, "acks", "x", { retain: false })).rejects.toBeDefined();
    await startDaemon();
    await isUp();
    const [tenantId, probeId] = [createId(), createId()];
    const client = await connectProbe(port, authority.certificate, await issueProbe(authority, probeId), { clientId: probeId });
    await client.publishAsync(probeTopic(tenantId, probeId, "health"), "back", { qos: 1 });
    await expect.poll(() => messages.map((message) => message.payload.toString())).toEqual(["back"]);
    client.end(true);
  });

  test("what the broker has not answered when it is killed is given up, so that nothing waits for it", async () => {
    daemon?.kill("SIGSTOP");
    const published = broker.publish({ tenantId: createId(), probeId: createId() }, "acks", "x", { retain: false });
    // Looked at from the start: it fails while the daemon is still being waited for.
    const givenUp = expect(published).rejects.toThrow("went away");
    await stopDaemon();
    await givenUp;
  });

  test("nobody comes in without a certificate", async () => {
    await expect(connectProbe(port, authority.certificate, {}, { clientId: createId() })).rejects.toBeDefined();
  });
});

test("an unreachable broker does not stop the start, and its password is in no health text", async () => {
  const broker = createExternalBroker({
    url: "mqtt://user:hunter2@127.0.0.1:1", tls: null, clock: systemClock, random: () => 1, log: silentLog,
  });
  await broker.start({ receive: () => Promise.resolve(), refused: () => {} });
  await expect.poll(() => broker.health().detail).toContain("ECONNREFUSED");
  expect(broker.health().status).toBe("degraded");
  expect(broker.health().detail).not.toContain("hunter2");
  await broker.close();
});
