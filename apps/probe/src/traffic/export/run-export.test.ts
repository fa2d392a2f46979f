import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CommandData } from "@lanthorn/contract/uplink";
import { encodeFrameBlock } from "@lanthorn/packet-io";
import { encodeArp, encodeEthernet, encodeIpv6, encodeUdp, ETHER_TYPE, IP_PROTOCOL, parseIp, readCapture } from "@lanthorn/packets";
import { createFakeClock, createId, type FakeClock, silentLog, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bundleProgram } from "../../../../../test/lab/bundle-program.ts";
import { type DebianRoot } from "../../../../../test/lab/debian-packages.ts";
import { seededRandom } from "../../../../../packages/packets/src/testing/hostile.ts";
import { runUnpacked, unpackOrSay } from "../../../../../packages/packets/src/testing/tshark.ts";
import { createBufferPool } from "../capture-files/buffer-pool.ts";
import { createFreeSpace } from "../capture-files/disk-room.ts";
import type { CaptureFileFacts } from "../capture-files/facts.ts";
import { type CapturePrivacy, KEEP_ALL } from "../capture-files/privacy.ts";
import { EPOCH_SECONDS, udpFrame } from "../capture-files/testing/frames.ts";
import { type ContinuousCapture, openContinuous } from "../continuous/continuous.ts";
import { ContinuousSettings } from "../continuous/settings.ts";
import { createExports, type Exports } from "./run-export.ts";

const PROGRAM = [process.execPath, bundleProgram(fileURLToPath(new URL("testing/exporter.ts", import.meta.url)))];
const MAC = [Uint8Array.of(2, 0, 0, 0, 0, 1), Uint8Array.of(2, 0, 0, 0, 0, 2)] as const;

let dataDir: string;
let ring: ContinuousCapture;
let exports: Exports;
let load: number;
let privacy: CapturePrivacy;
let clock: FakeClock;
let finished: CaptureFileFacts[];
let wireshark: DebianRoot | null;

beforeAll(async () => {
  wireshark = await unpackOrSay(["tshark", "wireshark-common"], "exports against tshark's filters");
});
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-export-"));
  load = 0;
  privacy = KEEP_ALL;
  clock = createFakeClock();
  finished = [];
  ring = await openContinuous({
    load: () => 0, settings: ContinuousSettings.parse({ enabled: true, budget_megabytes: 16, free_floor_megabytes: 0, file_megabytes: 1 }), dataDir, interfaces: ["lan0", "lan1"],
    snapLength: 262_144, application: "test", pool: createBufferPool({ buffers: 16 }), spare: createBufferPool({ buffers: 2 }), privacy: () => KEEP_ALL, clock: systemClock, log: silentLog,
    free: createFreeSpace({ path: dataDir, floorBytes: 0 }),
  });
  exports = createExports({
    continuous: ring, program: PROGRAM, dataDir, floorBytes: 0, interfaces: ["lan0", "lan1"], snapLength: 262_144, application: "test", load: () => load, privacy: () => privacy,
    onFinished: (facts) => void finished.push(facts), clock, log: silentLog,
  });
});
afterEach(async () => {
  await exports.close();
  await ring.sink.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The load is looked at some times a second. */
async function setLoad(value: number): Promise<void> {
  load = value;
  await clock.advance(1000);
}
const folder = () => join(dataDir, "captures", "files");
const ask = (more: Partial<CommandData<"pcap_export">> = {}): CommandData<"pcap_export"> => ({
  pcap_id: createId(), from: new Date(EPOCH_SECONDS * 1000).toISOString(), to: new Date((EPOCH_SECONDS + 1000) * 1000).toISOString(), host: null, peer: null,
  side: "both", filter: "", bytes: 1e9, ...more,
});
const start = (data: CommandData<"pcap_export">) => exports.start(data, { maxBytes: 1e9 });
async function run(more: Partial<CommandData<"pcap_export">>): Promise<CaptureFileFacts> {
  expect(await start(ask(more))).toBeNull();
  const before = finished.length;
  await expect.poll(() => finished.length, { interval: 20 }).toBe(before + 1);
  return finished.at(-1) as CaptureFileFacts;
}
/** Ids of the processes of exports that run now. Another child may end while it is looked at. */
function exporters(): readonly string[] {
  const commandOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1");
    } catch {
      return "";
    }
  };
  return readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "latin1").split(" ").filter((pid) => pid !== "" && commandOf(pid).includes("traffic-export"));
}

/** Times in nanoseconds, which no two frames share. */
const timesIn = (path: string) => readCapture(readFileSync(path)).records.map(({ seconds, nanoseconds }) => `${seconds}.${String(nanoseconds).padStart(9, "0")}`);

function arp(): Uint8Array {
  return encodeEthernet({
    destination: MAC[1], source: MAC[0], etherType: ETHER_TYPE.arp, payload: encodeArp({
      operation: 1, senderHardwareAddress: MAC[0], senderProtocolAddress: parseIp("10.0.0.1") as Uint8Array, targetHardwareAddress: new Uint8Array(6),
      targetProtocolAddress: parseIp("10.0.0.3") as Uint8Array,
    }),
  });
}
function ipv6(source: string, destination: string): Uint8Array {
  const ends = { source: parseIp(source) as Uint8Array, destination: parseIp(destination) as Uint8Array };
  const payload = encodeUdp({ sourcePort: 5353, destinationPort: 5353, payload: new Uint8Array(40) }, ends);
  return encodeEthernet({ destination: MAC[0], source: MAC[1], etherType: ETHER_TYPE.ipv6, payload: encodeIpv6({ protocol: IP_PROTOCOL.udp, ...ends, payload }) });
}
function tagged(frame: Uint8Array): Uint8Array {
  return Buffer.concat([frame.subarray(0, 12), Buffer.of(0x81, 0, 0, 20), frame.subarray(12)]);
}

/** Frames of five hosts, some behind a tag, in files of 20 s. */
async function recordMixture(): Promise<void> {
  const random = seededRandom(4);
  const host = () => `10.0.0.${1 + random(5)}`;
  for (let second = 0; second < 100; second += 1) {
    const frames = Array.from({ length: 30 }, (_, n) => {
      const frame = n % 10 === 0 ? arp() : n % 10 === 1 ? ipv6(`2001:db8::${1 + random(3)}`, `2001:db8::${1 + random(3)}`)
        : udpFrame({ source: host(), destination: host(), sourcePort: 1000 + random(4), destinationPort: 53 + random(3), payload: new Uint8Array(random(900)) });
      return { bytes: random(4) === 0 ? tagged(frame) : frame, seconds: EPOCH_SECONDS + second, nanoseconds: n * 1000 + 1, isOutgoing: n % 2 === 0 };
    });
    ring.sink.onBlock(encodeFrameBlock(frames), second % 2);
    if (second % 20 === 19) {
      ring.configure();
      await ring.flush();
    }
  }
}

describe("an export", () => {
  test("is what tshark filters from the same files", async (context) => {
    if (!wireshark) context.skip();
    await recordMixture();
    await ring.flush();
    const files = readdirSync(join(dataDir, "captures", "continuous")).filter((name) => name.includes(".pcapng")).toSorted();
    expect(files.length).toBeGreaterThanOrEqual(5);
    // One after the other, as they are.
    const all = join(dataDir, "all.pcapng");
    await runUnpacked(wireshark as DebianRoot, "mergecap", ["-a", "-w", all, ...files.map((name) => join(dataDir, "captures", "continuous", name))]);
    const t = (seconds: number) => new Date((EPOCH_SECONDS + seconds) * 1000).toISOString();
    const is = (address: string) => `(ip.addr == ${address} or arp.src.proto_ipv4 == ${address} or arp.dst.proto_ipv4 == ${address})`;
    const wishes: readonly (readonly [Partial<CommandData<"pcap_export">>, string])[] = [
      [{}, "frame"],
      [{ from: t(15), to: t(42.000_005) }, `frame.time_epoch >= ${EPOCH_SECONDS + 15} and frame.time_epoch <= ${EPOCH_SECONDS + 42}.000000`],
      [{ host: "10.0.0.1" }, is("10.0.0.1")],
      [{ host: "10.0.0.1", peer: "10.0.0.3" }, `${is("10.0.0.1")} and ${is("10.0.0.3")}`],
      [{ host: "10.0.0.1", side: "source" }, "ip.src == 10.0.0.1 or arp.src.proto_ipv4 == 10.0.0.1"],
      [{ host: "10.0.0.2", peer: "10.0.0.4", side: "destination" }, "ip.dst == 10.0.0.2 and ip.src == 10.0.0.4"],
      [{ host: "2001:db8::2" }, "ipv6.addr == 2001:db8::2"],
      [{ host: "02:00:00:00:00:02", side: "source" }, "eth.src == 02:00:00:00:00:02"],
      [{ filter: "udp port 53 or (vlan and udp port 53)" }, "udp.port == 53"],
      [{ host: "10.0.0.5", filter: "greater 500" }, "ip.addr == 10.0.0.5 and frame.len >= 500"],
    ];
    for (const [wish, displayFilter] of wishes) {
      const { path, recorded } = await run(wish);
      const text = await runUnpacked(wireshark as DebianRoot, "tshark", ["-n", "-r", all, "-Y", displayFilter, "-T", "fields", "-e", "frame.time_epoch"]);
      const expected = text.split("\n").filter((line) => line !== "");
      expect([wish, timesIn(path as string)]).toEqual([wish, expected]);
      expect(expected.length).toBeGreaterThan(5);
      expect(recorded).toMatchObject({ state: "whole", trigger: "export", packets: expected.length, size_bytes: statSync(path as string).size });
      expect(recorded.counters.received - recorded.counters.left_out).toBe(expected.length);
    }
  });

  test("runs at the lowest priority and without capabilities, waits while the capture has much to do, and ends early when it is stopped", async () => {
    await recordMixture();
    await setLoad(1);
    const wish = ask();
    expect(await start(wish)).toBeNull();
    await expect.poll(() => exporters().map((pid) => readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ")[16]), { interval: 20 }).toEqual(["19"]);
    // What the kernel says that it may do, and may gain: nothing.
    const rightsOf = (pid: string) => [...readFileSync(`/proc/${pid}/status`, "latin1").matchAll(/^(?:Cap(?:Inh|Prm|Eff|Amb)|NoNewPrivs):\s+(\S+)$/gm)].map(([, value]) => Number(value));
    await expect.poll(() => exporters().map(rightsOf), { interval: 20 }).toEqual([[0, 0, 0, 0, 1]]);
    expect([finished, existsSync(join(folder(), `${wish.pcap_id}.pcapng`))]).toEqual([[], false]);
    expect(exports.stop(wish.pcap_id)).toBe(true);
    await expect.poll(() => finished.length, { interval: 20 }).toBe(1);
    expect(finished[0]?.recorded).toMatchObject({ pcap_id: wish.pcap_id, state: "cut", detail: expect.stringContaining("stopped") });
    expect(exports.stop(wish.pcap_id)).toBe(false);
    await setLoad(0);
    expect((await run({})).recorded.packets).toBe(3000);
  });

  test("does not hold up the ring: what was recorded over meanwhile is missing, and the file says so", async () => {
    await recordMixture();
    await setLoad(1);
    expect(await start(ask())).toBeNull();
    const frame = udpFrame({ payload: new Uint8Array(1400) });
    const [oldest = ""] = readdirSync(join(dataDir, "captures", "continuous")).filter((name) => name.endsWith(".pcapng")).toSorted();
    for (let n = 0; existsSync(join(dataDir, "captures", "continuous", oldest)); n += 1) {
      expect(n).toBeLessThan(200);
      ring.sink.onBlock(encodeFrameBlock(Array.from({ length: 200 }, () => ({ bytes: frame, seconds: EPOCH_SECONDS + 200 + n, nanoseconds: 0 }))), 0);
      await ring.flush();
    }
    await setLoad(0);
    await expect.poll(() => finished.length, { interval: 20 }).toBe(1);
    expect(finished[0]?.recorded.state).toBe("whole");
    expect(finished[0]?.recorded.packets).toBeLessThan(3000);
    expect(readFileSync(finished[0]?.path ?? "").toString("latin1")).toContain("recorded over");
  });

  test("keeps to its bytes, and to what may be kept of payload", async () => {
    await recordMixture();
    const { path, recorded } = await run({ bytes: 100_000 });
    expect(statSync(path as string).size).toBeLessThanOrEqual(100_000);
    expect(recorded).toMatchObject({ state: "cut", detail: expect.stringMatching(/./) });
    expect(recorded.packets).toBeGreaterThan(50);
    privacy = { headersOnly: true, headersOnlyNetworks: [] };
    const cut = await run({ filter: "udp" });
    expect(cut.recorded.headers_only).toBe(true);
    expect(Math.max(...readCapture(readFileSync(cut.path as string)).records.map(({ bytes }) => bytes.length))).toBeLessThanOrEqual(62);
  });

  test("leaves out what the site wants left out while it runs, from then on", async () => {
    await recordMixture();
    await setLoad(1);
    expect(await start(ask({ filter: "udp" }))).toBeNull();
    privacy = { headersOnly: true, headersOnlyNetworks: [] };
    exports.configure();
    await setLoad(0);
    await expect.poll(() => finished.length, { interval: 20 }).toBe(1);
    const { path, recorded } = finished[0] as CaptureFileFacts;
    expect(recorded).toMatchObject({ state: "whole", headers_only: true });
    expect(Math.max(...readCapture(readFileSync(path as string)).records.map(({ bytes }) => bytes.length))).toBeLessThanOrEqual(62);
  });

  test("has its place before its files are looked up: of many that come at once two run", async () => {
    await recordMixture();
    await setLoad(1);
    const wishes = Array.from({ length: 16 }, () => ask());
    const [stopped] = wishes;
    const asked = Promise.all(wishes.map((wish) => start(wish)));
    expect(exports.stop(stopped?.pcap_id ?? "")).toBe(true);
    const answers = await asked;
    expect(answers.filter((answer) => answer === null)).toHaveLength(1);
    expect(answers[0]).toHaveProperty("refused");
    await expect.poll(() => exporters().length, { interval: 20 }).toBe(1);
  });

  test("carries over what the ring's files say is missing", async () => {
    ring.sink.onBlock(encodeFrameBlock([{ bytes: udpFrame({}), seconds: EPOCH_SECONDS, nanoseconds: 0 }]), 0);
    ring.sink.onMissing?.(0, 77, "the kernel had no room");
    ring.sink.onBlock(encodeFrameBlock([{ bytes: udpFrame({ source: "10.0.0.9" }), seconds: EPOCH_SECONDS + 1, nanoseconds: 0 }]), 0);
    ring.sink.onBlock(encodeFrameBlock([{ bytes: udpFrame({}), seconds: EPOCH_SECONDS + 2, nanoseconds: 0 }]), 0);
    const { path, recorded } = await run({ host: "10.0.0.1" });
    expect(recorded.packets).toBe(2);
    expect(readFileSync(path as string).toString("latin1")).toContain("77 frames are missing before this one: the kernel had no room");
  });

  test("names every gap among frames of others, and behind its last frame", async () => {
    const see = (source: string, second: number) => ring.sink.onBlock(encodeFrameBlock([{ bytes: udpFrame({ source }), seconds: EPOCH_SECONDS + second, nanoseconds: 0 }]), 0);
    const miss = (frames: number) => ring.sink.onMissing?.(0, frames, "lost");
    see("10.0.0.1", 0);
    for (const [n, frames] of [11, 22, 33].entries()) {
      miss(frames);
      see("10.0.0.9", n + 1);
    }
    see("10.0.0.1", 4);
    miss(44);
    see("10.0.0.9", 5);
    miss(55);
    see("10.0.0.9", 2000);
    const { path } = await run({ host: "10.0.0.1" });
    const text = readFileSync(path as string).toString("latin1");
    expect(text).toContain([11, 22, 33].map((frames) => `${frames} frames are missing before this one: lost`).join("; "));
    expect(text).toContain("missing at the end: 44 frames are missing before this one: lost");
    expect(text).not.toContain("55 frames");
  });

  test("that is killed leaves nothing but the report that it failed", async () => {
    await recordMixture();
    await setLoad(1);
    const wish = ask();
    expect(await start(wish)).toBeNull();
    await expect.poll(() => existsSync(join(folder(), `${wish.pcap_id}.json`)), { interval: 20 }).toBe(true);
    await expect.poll(() => exporters().length, { interval: 20 }).toBe(1);
    process.kill(Number(exporters()[0]), "SIGKILL");
    await expect.poll(() => finished.length, { interval: 20 }).toBe(1);
    expect(finished[0]).toMatchObject({ path: null, recorded: { pcap_id: wish.pcap_id, trigger: "export", state: "failed" } });
    expect(readdirSync(folder())).toEqual([]);
  });

  test("is refused with the compiler's words, and where there is nothing to cut", async () => {
    await recordMixture();
    expect((await start(ask({ filter: "udp prot 53" })))?.refused).toContain("udp prot 53");
    expect(await start(ask({ to: new Date((EPOCH_SECONDS - 100) * 1000).toISOString(), from: new Date(0).toISOString() }))).toHaveProperty("refused");
    expect(await start(ask({ peer: "10.0.0.1" }))).toHaveProperty("refused");
    expect(await start(ask({ from: new Date((EPOCH_SECONDS + 9) * 1000).toISOString(), to: new Date(EPOCH_SECONDS * 1000).toISOString() }))).toHaveProperty("refused");
    await setLoad(1);
    expect([await start(ask()), await start(ask())]).toEqual([null, null]);
    expect(await start(ask())).toHaveProperty("refused");
  });
});
