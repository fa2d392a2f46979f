import { DEFAULT_CAPTURE_SETTINGS, type PcapRecorded } from "@lanthorn/contract/uplink";
import { createFakeClock, createId, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import type { AlertNotice } from "../messages.ts";
import { TrafficSettings } from "../settings.ts";
import { CALM, createFakeProcess, type FakeProcess } from "../testing/fake-process.ts";
import { createTrafficSupervisor } from "./supervisor.ts";

function start(takes: (data: PcapRecorded) => boolean = () => true, settings: Partial<TrafficSettings> = {}) {
  const clock = createFakeClock();
  const processes: FakeProcess[] = [];
  const startedAt: number[] = [];
  const rulesFailed: string[] = [];
  const supervisor = createTrafficSupervisor({
    settings: TrafficSettings.parse({ interfaces: ["eth1"], ...settings }), dataDir: "/nowhere", probeId: () => PROBE, version: "1.0.0", spoolBytes: 1e9, site: DEFAULT_CAPTURE_SETTINGS,
    recentMs: 300_000, clock, random: () => 1, log: silentLog, onRecorded: takes,
    homeNetworks: () => ["10.0.0.0/8"], onFound: () => undefined, onDnsThreat: () => undefined, onAnomaly: () => undefined, onRulesFailed: (reason) => rulesFailed.push(reason),
    start() {
      const made = createFakeProcess(100 + processes.length, clock);
      processes.push(made);
      startedAt.push(clock.monotonic());
      return made.started;
    },
  });
  const last = () => processes.at(-1) as FakeProcess;
  return { clock, processes, startedAt, supervisor, last, rulesFailed };
}

const PROBE = createId();
const alert = (at: number): AlertNotice => ({ alert_id: createId(), kind: "arp_spoofing", at, device: { macs: ["02:00:00:00:00:01"], ips: [] }, peer: null, packets: [] });
const kinds = ({ heard }: FakeProcess) => heard.map(({ kind }) => kind);

test("the process is given its settings first, and what it says is the probe's health", async () => {
  const { clock, supervisor, last } = start();
  expect(supervisor.health()).toMatchObject({ state: "starting", interfaces: [{ name: "eth1", up: false }] });
  last().say();
  await clock.advance(1000);
  expect(last().heard[0]).toMatchObject({ kind: "begin", data_dir: "/nowhere", probe_id: PROBE, settings: { interfaces: ["eth1"] }, gaps: [] });
  expect(supervisor.health()).toMatchObject({ state: "running", error: null, restarts: 0, gap: null, memory_bytes: 50e6, interfaces: [{ up: true, frames: 10 }] });
});

test("one that was killed is started again at once, and the gap is said", async () => {
  const { clock, processes, supervisor, last } = start();
  for (let round = 1; round <= 20; round += 1) {
    last().say();
    await clock.advance(500);
    last().say();
    await clock.advance(1500);
    last().end("SIGKILL");
    await clock.advance(1);
    expect(processes).toHaveLength(round + 1);
    expect(supervisor.health()).toMatchObject({ state: "starting", restarts: round, gap: { to: null, reason: "the traffic process ended: SIGKILL" } });
  }
  last().say({ interfaces: [] });
  await clock.advance(100);
  expect(supervisor.health()).toMatchObject({ state: "running", gap: { to: expect.any(String) as string } });
  expect(last().heard[0]).toMatchObject({ kind: "begin" });
  const [begin] = last().heard;
  expect(begin?.kind === "begin" && begin.gaps).toHaveLength(16);
  expect(supervisor.sums()).toMatchObject({ frames: 200, recentGaps: 16 });
  await clock.advance(400_000);
  expect(supervisor.sums().recentGaps).toBe(1);
});

test("one that is killed as soon as it works is followed within a second, again and again", async () => {
  const { clock, startedAt, last } = start();
  const waits: number[] = [];
  for (let round = 0; round < 25; round += 1) {
    last().say();
    await clock.advance(50);
    last().end("SIGKILL");
    await clock.advance(0);
    const killedAt = clock.monotonic();
    await clock.advance(1000);
    waits.push((startedAt.at(-1) ?? 0) - killedAt);
  }
  expect(startedAt).toHaveLength(26);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1000);
});

test("one that ends before it has said a word is started again later and later", async () => {
  const { clock, startedAt, last, supervisor } = start();
  for (let round = 0; round < 8; round += 1) {
    last().end("ended with code 1");
    await clock.advance(1);
    if (round === 0) expect(await supervisor.command("pcap_stop", { pcap_id: createId() })).toHaveProperty("refused");
    await clock.advance(29_999);
  }
  const waits = startedAt.slice(1).map((at, index) => at - (startedAt[index] ?? 0));
  expect(waits.length).toBeGreaterThan(5);
  expect(supervisor.health().state).not.toBe("running");
});

test("one that hangs is killed and started again; one that never begins too", async () => {
  const { clock, processes, last, supervisor } = start();
  last().say();
  await clock.advance(9000);
  expect(processes[0]?.wasKilled).toBe(false);
  await clock.advance(3000);
  expect([processes[0]?.wasKilled, processes.length, supervisor.health().gap?.reason]).toEqual([true, 2, "the traffic process ended: it hung"]);
  await clock.advance(29_000);
  expect(processes[1]?.wasKilled).toBe(false);
  await clock.advance(3000);
  expect(processes[1]?.wasKilled).toBe(true);
});

test("one that takes more memory than it may is killed when it goes on", async () => {
  const { clock, processes, last, supervisor } = start(() => true, { memory_megabytes: 192 });
  last().say();
  last().rss = 193 * 1024 * 1024;
  await clock.advance(2000);
  last().rss = 100e6;
  last().say();
  await clock.advance(2000);
  expect(processes).toHaveLength(1);
  last().rss = 193 * 1024 * 1024;
  last().say();
  await clock.advance(3000);
  expect([processes[0]?.wasKilled, processes.length]).toEqual([true, 2]);
  expect(supervisor.health().gap?.reason).toContain("192 MiB");
});

test("commands are answered by the process, refused by it, or refused for it", async () => {
  const { clock, processes, supervisor, last } = start();
  last().say();
  await clock.advance(10);
  const [one, two, three] = [1, 2, 3].map(() => supervisor.command("pcap_stop", { pcap_id: createId() }));
  await clock.advance(10);
  expect(kinds(last())).toEqual(["begin", "command", "command", "command"]);
  last().channel.send({ kind: "reply", id: 2, data: { running: true } });
  last().channel.send({ kind: "refusal", id: 1, reason: "no such file", code: "no-such-file" });
  await clock.advance(10);
  expect([await one, await two]).toEqual([{ refused: "no such file", reason: "no-such-file" }, { data: { running: true } }]);
  last().end("SIGSEGV");
  expect(await three).toMatchObject({ reason: "not-now" });
  await clock.advance(1000);
  last().say();
  const fourth = supervisor.command("pcap_stop", { pcap_id: createId() });
  for (let second = 0; second < 16; second += 1) {
    last().say();
    await clock.advance(1000);
  }
  expect(await fourth).toHaveProperty("refused");
  expect(processes).toHaveLength(2);
  const many = Array.from({ length: 40 }, () => supervisor.command("pcap_stop", { pcap_id: createId() }));
  expect(await Promise.race(many)).toHaveProperty("refused");
});

test("an alert that goes on is given to the process that follows as well, with the settings of now", async () => {
  const { clock, supervisor, last } = start();
  last().say();
  const old = alert(clock.now());
  supervisor.alert(old);
  await clock.advance(31_000);
  last().say();
  const recent = alert(clock.now());
  supervisor.alert(recent);
  supervisor.alert(recent);
  supervisor.configure({ ...DEFAULT_CAPTURE_SETTINGS, evidence: false });
  last().end("SIGKILL");
  await clock.advance(1000);
  const [begin, ...rest] = last().heard;
  expect(begin).toMatchObject({ kind: "begin", site: { evidence: false } });
  expect(begin?.kind === "begin" && begin.gaps.at(-1)?.reason).toBe("the traffic process ended: SIGKILL");
  expect(rest.filter(({ kind }) => kind === "alert")).toEqual([{ kind: "alert", alert: recent }]);
});

test("what is recorded is noted when the queue has it, and not before", async () => {
  const taken: PcapRecorded[] = [];
  let isWritable = false;
  const { clock, last } = start((data) => isWritable && taken.push(data) > 0);
  const data: PcapRecorded = {
    pcap_id: createId(), trigger: "alert", state: "whole", detail: "", file_name: "a.pcapng", size_bytes: 10, sha256: "0".repeat(64), packets: 1, started_at: null,
    finished_at: null, interfaces: ["eth1"], filter: "", snap_length: 96, headers_only: false, alert_ids: [], macs: [], ips: [], summary: null,
    counters: { received: 1, dropped_by_kernel: 0, dropped_by_probe: 0, left_out: 0 },
  };
  last().channel.send({ kind: "recorded", at: clock.now(), data });
  await clock.advance(100);
  expect(kinds(last())).toEqual(["begin"]);
  isWritable = true;
  last().channel.send({ kind: "recorded", at: clock.now(), data });
  await clock.advance(100);
  expect([kinds(last()), taken]).toEqual([["begin", "noted"], [data]]);
});

test("closing ends the channel and waits for the process, which is killed when it does not end", async () => {
  const { clock, last, supervisor } = start();
  last().say();
  await clock.advance(10);
  const closed = supervisor.close();
  await clock.advance(3400);
  expect(last().wasKilled).toBe(false);
  await clock.advance(200);
  await closed;
  expect(last().wasKilled).toBe(true);
});

test("rules with which the process ends again and again are taken back", async () => {
  const { clock, last, rulesFailed, supervisor } = start();
  for (let count = 0; count < 3; count += 1) {
    last().say({ rules: { ...CALM.rules, state: "loading" } });
    await clock.advance(2000);
    expect(supervisor.rules()?.state).toBe("loading");
    last().end("SIGKILL: it took more than 192 MB");
    await clock.advance(30_000);
  }
  expect(rulesFailed).toEqual([expect.stringContaining("it took more than 192 MB")]);
});
