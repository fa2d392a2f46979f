import { closeSync, existsSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ProbeStatus } from "@lanthorn/contract/uplink";
import { silentLog, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readIdentity } from "../identity/identity.ts";
import { createTestCa, startTestCollector as startRenewing } from "../identity/testing/collector.ts";
import { openProbeDatabase } from "../queue/database.ts";
import { createOutbox } from "../queue/outbox.ts";
import { createEnrolledProbe, type EnrolledProbe } from "./testing/enrolled-probe.ts";

let probe: EnrolledProbe;
beforeEach(async () => {
  probe = await createEnrolledProbe();
});
afterEach(() => probe.close());

const states = () => probe.collector.received.filter(({ channel }) => channel === "status").map(({ payload }) =>
  ProbeStatus.parse(JSON.parse(payload.toString())).state);
const found = () =>
  probe.collector.events.filter(({ type }) => type === "host_found").map(({ data }) => data as { mac: string; ip: string });
const hosts = (count: number) => Array.from({ length: count }, (_, n) => ({
  mac: `00:11:32:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`,
  ip: `10.20.${n >> 8}.${(n & 255) || 1}`,
}));
const path = () => join(probe.dataDir, "probe.db");

/** Puts events into the queue before the daemon starts. */
function fillQueue(count: number): void {
  const database = openProbeDatabase(path(), { clock: systemClock, log: silentLog, owner: probe.identity.probe_id });
  const outbox = createOutbox({ db: database.db, clock: systemClock, log: silentLog, budgetBytes: 1e9, onAppended: () => undefined });
  for (let n = 0; n < count; n += 500) {
    outbox.append(Array.from({ length: 500 }, () => ({
      type: "error" as const, occurred_at: new Date().toISOString(), data: { code: "test", message: "x".repeat(400) },
    })));
  }
  outbox.close();
  database.close();
}

describe("the daemon", () => {
  test("brings what a capture file tells to the collector, over TLS with its own certificate, and ends", async () => {
    const wanted = hosts(5);
    const run = probe.start(["run", "--replay", probe.writeCapture(wanted), "--exit-when-drained"]);
    expect(await run.ready).toEqual({ probe_id: probe.identity.probe_id, interface: "replay" });
    expect(await run.ended).toMatchObject({ code: 0 });
    expect(found().map(({ mac, ip }) => ({ mac, ip })).toSorted((a, b) => a.mac.localeCompare(b.mac))).toEqual(wanted);
    expect(states()).toEqual(["online", "stopped"]);
    const foundAt = probe.collector.events.filter(({ type }) => type === "host_found").map(({ occurred_at: at }) => Date.parse(at));
    // Within the seconds that the file tells of, and the two in which a host may still tell its name.
    expect(foundAt.every((at) => at >= 1_700_000_000_000 && at <= 1_700_000_060_000)).toBe(true);
  });

  test("stays up without its interface, says so, and ends cleanly when it is stopped", async () => {
    const run = probe.start(["run"], { LANTHORN_INTERFACE: "no-such-if" });
    await run.ready;
    await probe.collector.until(() => states().includes("online") && existsSync(join(probe.dataDir, "status.json")));
    const status = await probe.start(["status", "--json"]).ended;
    expect(JSON.parse(status.stdout)).toMatchObject({ probe_id: probe.identity.probe_id, interface: { name: "no-such-if", up: false } });
    run.kill("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 0 });
    expect(states().at(-1)).toBe("stopped");
    expect(await probe.start(["status"]).ended).toMatchObject({ code: 7 });
  });

  test("keeps what it finds while the collector is away, over being killed, and brings it when it is back", async () => {
    const file = probe.writeCapture(hosts(20));
    const { port } = probe.collector;
    await probe.collector.close();
    const first = probe.start(["run", "--replay", file]);
    await first.ready;
    // The daemon holds the file for itself; that its log grew by more than the schema tells that hosts are in it.
    await probe.collector.until(() => first.log().includes("read to its end") && statSync(`${path()}-wal`).size > 60_000);
    first.kill("SIGKILL");
    await first.ended;
    await probe.restartCollector().catch(() => undefined);
    expect(probe.collector.port).toBe(port);
    const second = probe.start(["run", "--replay", file, "--exit-when-drained"]);
    expect(await second.ended).toMatchObject({ code: 0 });
    expect(new Set(found().map(({ mac }) => mac)).size).toBe(20);
    expect(found()).toHaveLength(20);
    const seqs = probe.collector.events.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  });

  test("goes on with a new queue in the same process when the old one breaks under it", async () => {
    fillQueue(20_000);
    probe.collector.mode = "deaf";
    const run = probe.start(["run", "--replay", probe.writeCapture(hosts(3))]);
    await run.ready;
    await probe.collector.until(() => probe.collector.batches.length === 1);
    const file = openSync(path(), "r+");
    for (let page = 40; page < statSync(path()).size / 4096; page += 1) writeSync(file, new Uint8Array(64).fill(0xa5), 0, 64, page * 4096);
    closeSync(file);
    await probe.restartCollector();
    await probe.collector.until(() =>
      probe.collector.events.some(({ type, data }) => type === "queue_gap" && (data as { reason: string }).reason === "queue-corrupt"));
    expect(readdirSync(probe.dataDir).some((name) => name.startsWith("probe.db.corrupt-"))).toBe(true);
    run.kill("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 0 });
  });

  test("leaves the queue of an earlier enrollment aside", async () => {
    const former = openProbeDatabase(path(), { clock: systemClock, log: silentLog, owner: "somebody else" });
    former.close();
    expect(await probe.start(["run", "--replay", probe.writeCapture(hosts(1)), "--exit-when-drained"]).ended).toMatchObject({ code: 0 });
    expect(readdirSync(probe.dataDir).some((name) => name.startsWith("probe.db.former-"))).toBe(true);
    expect(probe.collector.events.some(({ type }) => type === "queue_gap")).toBe(false);
  });
});

test("a daemon whose certificate is two thirds old renews it, and connects anew with it", async () => {
  const ca = await createTestCa();
  const renewing = await startRenewing({ ca });
  const old = await createEnrolledProbe({
    ca, probeId: renewing.probeId, certificateFrom: Date.now() - 24 * 3_600_000, collectorUrl: renewing.url,
  });
  try {
    const run = old.start(["run"], { LANTHORN_INTERFACE: "no-such-if" });
    await run.ready;
    await old.collector.until(() => old.collector.received.filter(({ channel }) => channel === "status").length >= 3);
    expect(renewing.requests).toContain("POST /api/v1/agents/renew");
    const after = readIdentity(old.dataDir);
    expect(after?.certificate).not.toBe(old.identity.certificate);
    expect(after?.private_key).not.toBe(old.identity.private_key);
    run.kill("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 0 });
  } finally {
    await old.close();
    await renewing.close();
  }
});

describe("the command", () => {
  test("does not run twice on one data directory", async () => {
    const first = probe.start(["run"], { LANTHORN_INTERFACE: "no-such-if" });
    await first.ready;
    expect(await probe.start(["run"], { LANTHORN_INTERFACE: "no-such-if" }).ended).toMatchObject({ code: 4 });
  });

  test.each([
    ["not enrolled", ["run"], { LANTHORN_DATA_DIR: "/nonexistent/lanthorn", LANTHORN_INTERFACE: "lo" }, 3],
    ["without an interface", ["run"], {}, 1],
    ["a capture file that is not there", ["run", "--replay", "/nonexistent.pcap"], {}, 1],
    ["the status of nothing", ["status"], {}, 7],
    ["a second enrollment", ["enroll", "--collector", "https://127.0.0.1:1", "--token", `lt1.${"a".repeat(43)}.${"b".repeat(43)}`], {}, 27],
    ["no token", ["enroll", "--collector", "https://127.0.0.1:1", "--token", "word"], {}, 20],
    ["a valid configuration", ["--check-config"], {}, 0],
    ["a wrong value in the environment", ["--check-config"], { LANTHORN_MQTT_URL: "http://broker" }, 1],
  ])("ends for %s with its own code and a line that says why", async (_, args, environment, code) => {
    const { code: ended, stdout, stderr } = await probe.start(args, environment).ended;
    expect(ended).toBe(code);
    expect(code === 0 ? stdout : stderr).toMatch(code === 0 ? /valid/ : /^lanthorn-probe: /);
  });

  test("names the key of a configuration file that is wrong", async () => {
    const file = join(probe.dataDir, "probe.toml");
    writeFileSync(file, "[sweep]\npackets_per_second = 0\n");
    for (const args of [["--check-config", "--config", file], ["run", "--check-config", "--config", file], ["run", "--config", file]]) {
      const { code, stderr } = await probe.start(args).ended;
      expect(code).toBe(1);
      expect(stderr).toContain("sweep.packets_per_second");
    }
  });
});
