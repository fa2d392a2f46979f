import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CaptureSettings, DEFAULT_CAPTURE_SETTINGS, type PcapRecorded } from "@lanthorn/contract/uplink";
import { encodeFrameBlock } from "@lanthorn/packet-io";
import { readCapture } from "@lanthorn/packets";
import { createFakeClock, createId, type FakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bundleProgram } from "../../../../../test/lab/bundle-program.ts";
import { createBufferPool, createBufferShare } from "../capture-files/buffer-pool.ts";
import { openCaptureFile } from "../capture-files/capture-file.ts";
import { readNote } from "../capture-files/facts.ts";
import { EPOCH_SECONDS, fileOptions, udpFrame, viewOf } from "../capture-files/testing/frames.ts";
import { createSpool } from "../../files/spool.ts";
import type { FromProcess } from "../messages.ts";
import type { Recording } from "../recording.ts";
import { TrafficSettings } from "../settings.ts";
import { openParts } from "./open-parts.ts";
import type { TrafficParts } from "./traffic-parts.ts";

const PROGRAM = [process.execPath, bundleProgram(fileURLToPath(new URL("../export/testing/exporter.ts", import.meta.url)))];

let dataDir: string;
let clock: FakeClock;
let said: FromProcess[];
const open: { readonly parts: TrafficParts }[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-parts-"));
  clock = createFakeClock(EPOCH_SECONDS * 1000);
  said = [];
});
afterEach(async () => {
  for (const { parts } of open.splice(0)) await close(parts);
  rmSync(dataDir, { recursive: true, force: true });
});

const spool = () => createSpool({ dataDir, budgetBytes: 1e9 });
const files = () => readdirSync(join(dataDir, "captures", "files")).toSorted();
const recorded = (id: string) => said.flatMap((one) => (one.kind === "recorded" && one.data.pcap_id === id ? [one.data] : [])).at(-1);
async function close(parts: TrafficParts): Promise<void> {
  for (const sink of parts.sinks) await sink.close();
  await parts.close();
}

async function start(site: Partial<CaptureSettings> = {}, spoolBytes = 1e9, traffic: object = {}): Promise<TrafficParts> {
  const parts = await openParts({
    ownNetworks: () => [],
    begin: {
      kind: "begin", settings: TrafficSettings.parse({ interfaces: ["lan0"], continuous: { enabled: true, free_floor_megabytes: 0 }, ...traffic }), data_dir: dataDir,
      probe_id: createId(), version: "1", spool_bytes: spoolBytes, site: { ...DEFAULT_CAPTURE_SETTINGS, ...site }, gaps: [], home_networks: [],
    },
    program: PROGRAM, send: (message) => said.push(message) > 0, clock, log: silentLog,
  });
  open.push({ parts });
  return parts;
}
const command = (
  parts: TrafficParts, name: "pcap_fetch" | "pcap_delete" | "pcap_export" | "pcap_stop", data: Record<string, unknown>, handedOn = () => Promise.resolve(),
) => parts.command({ kind: "command", id: 1, command: name, data }, {
  captures: { stop: () => false, drop: () => Promise.resolve(false) } as never, watches: {} as never, handedOn,
});

/** A finished file of which the daemon was informed. */
async function record(parts: TrafficParts, options: { readonly isNoted?: boolean; readonly trigger?: "alert" | "request" } = {}): Promise<PcapRecorded> {
  const recording = parts.open({
    id: createId(), trigger: options.trigger ?? "request", interfaceId: null, filter: "", snapLength: 65_536, headersOnly: false, maxBytes: 1e6,
    about: { alertIds: [], macs: [], ips: [] }, comment: "",
  }) as Recording;
  recording.add(viewOf(udpFrame({})), 0);
  await recording.finish("");
  const data = recorded(recording.id) as PcapRecorded;
  if (options.isNoted ?? true) parts.noted(data.pcap_id, data.state);
  return data;
}

describe("finished files", () => {
  test("go to those that are sent as soon as the daemon knows of them, whole and under their ids", async () => {
    const parts = await start();
    const early = await record(parts, { isNoted: false });
    const data = await record(parts);
    await expect.poll(async () => spool().list()).toEqual([{ id: data.pcap_id, kind: "capture", size: data.size_bytes, sha256: data.sha256 }]);
    await expect.poll(files).toEqual([`${early.pcap_id}.json`, `${early.pcap_id}.pcapng`]);
  });

  test("wait here where the site wants them on demand, until they are fetched or deleted", async () => {
    const parts = await start({ upload: "on_demand" });
    const [one, other] = [await record(parts), await record(parts)];
    await clock.advance(60_000);
    expect(await spool().list()).toEqual([]);
    expect(await command(parts, "pcap_fetch", { pcap_id: one.pcap_id })).toEqual({ data: {} });
    await expect.poll(async () => (await spool().list()).map(({ id }) => id)).toEqual([one.pcap_id]);
    expect(await command(parts, "pcap_fetch", { pcap_id: one.pcap_id })).toEqual({ data: {} });
    expect(await command(parts, "pcap_fetch", { pcap_id: createId() })).toHaveProperty("refused");
    expect(await command(parts, "pcap_delete", { pcap_id: other.pcap_id })).toEqual({ data: { deleted: true } });
    expect(await command(parts, "pcap_delete", { pcap_id: one.pcap_id })).toEqual({ data: { deleted: true } });
    expect(await command(parts, "pcap_delete", { pcap_id: one.pcap_id })).toEqual({ data: { deleted: false } });
    expect([await spool().list(), files()]).toEqual([[], []]);
  });

  test("that do not fit among those that are sent are given again, also after a new start", async () => {
    const parts = await start({}, 100);
    const data = await record(parts);
    await clock.advance(30_000);
    // The note is written once more when the daemon knows of the file.
    await expect.poll(async () => (await readNote(join(dataDir, "captures", "files"), data.pcap_id))?.is_reported).toBe(true);
    expect([await spool().list(), files()]).toEqual([[], [`${data.pcap_id}.json`, `${data.pcap_id}.pcapng`]]);
    await close(parts);
    open.splice(0);
    await start();
    await expect.poll(async () => (await spool().list()).map(({ id }) => id)).toEqual([data.pcap_id]);
  });

  test("that were fetched and found no room among those that are sent are given again after a new start, those alone", async () => {
    const parts = await start({ upload: "on_demand" }, 100);
    const [wanted] = [await record(parts), await record(parts)];
    expect(await command(parts, "pcap_fetch", { pcap_id: wanted.pcap_id })).toEqual({ data: {} });
    await clock.advance(30_000);
    expect(await spool().list()).toEqual([]);
    await close(parts);
    open.splice(0);
    await start({ upload: "on_demand" });
    await expect.poll(async () => (await spool().list()).map(({ id }) => id)).toEqual([wanted.pcap_id]);
  });

  test("that are older than the settings keep are removed, evidence later", async () => {
    const parts = await start({ upload: "on_demand" }, 1e9, { evidence: { keep_days: 3 }, on_demand: { keep_days: 1 } });
    const [evidence, request] = [await record(parts, { trigger: "alert" }), await record(parts)];
    const has = (data: PcapRecorded) => existsSync(join(dataDir, "captures", "files", `${data.pcap_id}.pcapng`));
    await clock.leap(86_400_000 - 7_200_000);
    expect([has(evidence), has(request)]).toEqual([true, true]);
    // It looks each hour, and not again while it still looks.
    const after = (ms: number, look: () => unknown) => async () => {
      await clock.leap(ms);
      return look();
    };
    await expect.poll(after(14_400_000, () => [has(evidence), has(request)]), { interval: 500 }).toEqual([true, false]);
    await expect.poll(after(3 * 86_400_000, () => has(evidence)), { interval: 500 }).toBe(false);
    // Their records say so, also after a start before the daemon had them.
    await close(parts);
    open.splice(0);
    said = [];
    const next = await start({ upload: "on_demand" });
    for (const { pcap_id: id, sha256 } of [evidence, request]) {
      await expect.poll(() => recorded(id)).toMatchObject({ state: "removed", sha256, detail: expect.stringContaining("keep_days") as string });
      expect(await command(next, "pcap_fetch", { pcap_id: id })).toMatchObject({ reason: "no-such-file" });
      next.noted(id, "removed");
    }
    await expect.poll(files).toEqual([]);
  });

  test("that make room for evidence about another device are reported as removed, and why", async () => {
    const parts = await start({ upload: "on_demand" }, 1e9, { evidence: { budget_megabytes: 8 } });
    const write = async (mac: string) => {
      const recording = parts.open({
        id: createId(), trigger: "alert", interfaceId: null, filter: "", snapLength: 65_536, headersOnly: false, maxBytes: 3e6,
        about: { alertIds: [], macs: [mac], ips: [] }, comment: "",
      }) as Recording;
      const frame = viewOf(udpFrame({ payload: Buffer.alloc(60_000, 7) }));
      for (let added = recording.add(frame, 0); added !== "full"; added = recording.add(frame, 0)) await new Promise((resolve) => void setImmediate(resolve));
      await recording.finish("");
      parts.noted(recording.id, recorded(recording.id)?.state ?? "");
      return recording.id;
    };
    const eve = [await write("02:00:00:00:00:66"), await write("02:00:00:00:00:66")];
    await write("02:00:00:00:00:02");
    expect(eve.map((id) => recorded(id)?.state)).toEqual([expect.stringMatching(/^(?:whole|cut)$/), "removed"]);
    expect(recorded(eve[1] ?? "")).toMatchObject({ detail: expect.stringContaining("another device") as string, packets: expect.any(Number) as number });
    expect(files()).not.toContain(`${eve[1]}.pcapng`);
  });
});

test("a site's settings apply to files that are being written at once", async () => {
  const parts = await start();
  const recording = parts.open({
    id: createId(), trigger: "alert", interfaceId: null, filter: "", snapLength: 65_536, headersOnly: false, maxBytes: 1e6,
    about: { alertIds: [], macs: [], ips: [] }, comment: "",
  }) as Recording;
  const frame = udpFrame({ payload: Buffer.from("secret".repeat(20)) });
  const add = () => {
    recording.add(viewOf(frame), 0);
    parts.sinks[0]?.onBlock(encodeFrameBlock([{ bytes: frame, seconds: EPOCH_SECONDS, nanoseconds: 0 }]), 0);
  };
  add();
  parts.configure({ ...DEFAULT_CAPTURE_SETTINGS, headers_only_networks: ["10.0.0.0/8"] });
  add();
  parts.configure(DEFAULT_CAPTURE_SETTINGS);
  add();
  await recording.finish("it was stopped");
  const { detail } = recorded(recording.id) as PcapRecorded;
  expect([detail.includes("10.0.0.0/8"), detail.includes("it was stopped")]).toEqual([true, true]);
  const lengths = (path: string) => readCapture(readFileSync(path)).records.map(({ bytes }) => bytes.length);
  expect(lengths(join(dataDir, "captures", "files", `${recording.id}.pcapng`))).toEqual([162, 42, 42]);
  await parts.sinks[0]?.close();
  const ring = join(dataDir, "captures", "continuous");
  const all = () => readdirSync(ring).filter((name) => name.endsWith(".pcapng")).toSorted().map((name) => lengths(join(ring, name)));
  await expect.poll(all).toEqual([[162], [42], [162]]);
});

describe("what an earlier process left", () => {
  /** As a killed process leaves it: so many frames, and a note that says that it is being written. */
  async function leave(frames: number): Promise<string> {
    const folder = join(dataDir, "captures", "files");
    mkdirSync(folder, { recursive: true });
    const file = openCaptureFile(fileOptions(folder, { maxBytes: 1e8 }));
    for (let n = 0; n < frames; n += 1) {
      while (file.add(viewOf(udpFrame({}), n), 0) === "busy") await file.ready();
    }
    await file.flush();
    for (const name of [`${file.id}.json`, `${file.id}.pcapng.part`]) copyFileSync(join(folder, name), join(dataDir, name));
    await file.abandon();
    for (const name of [`${file.id}.json`, `${file.id}.pcapng.part`]) renameSync(join(dataDir, name), join(folder, name));
    return file.id;
  }

  test("holds up nothing, is put in order and reported, and is left as it was where there was no time for it", async () => {
    const id = await leave(30_000);
    const first = await start({ upload: "on_demand" });
    first.noteLoad(0.9);
    // What is opened now is not taken for something that was left.
    const data = await record(first);
    expect([recorded(id), data.state]).toEqual([undefined, "whole"]);
    await close(first);
    open.splice(0);
    expect(files()).toContain(`${id}.pcapng.part`);
    await start({ upload: "on_demand" });
    await expect.poll(() => recorded(id)).toMatchObject({ state: "cut", packets: 30_000 });
    expect(files()).toEqual([`${id}.json`, `${id}.pcapng`, `${data.pcap_id}.json`, `${data.pcap_id}.pcapng`].toSorted());
  });

  test("waits while there is much to do, and goes where it is deleted meanwhile", async () => {
    const [id, other] = [await leave(30_000), await leave(10)];
    const parts = await start({ upload: "on_demand" });
    parts.noteLoad(0.9);
    expect(await command(parts, "pcap_delete", { pcap_id: id })).toEqual({ data: { deleted: true } });
    parts.noteLoad(0);
    // It may begin to wait only now.
    const later = () => clock.advance(100).then(() => recorded(other));
    await expect.poll(later).toMatchObject({ state: "cut", packets: 10 });
    expect(recorded(id)).toBeUndefined();
    expect(files()).toEqual([`${other}.json`, `${other}.pcapng`]);
  });
});

test("evidence that is deleted while it is written takes no more frames, leaves nothing and is not reported", async () => {
  const parts = await start();
  const recording = parts.open({
    id: createId(), trigger: "alert", interfaceId: null, filter: "", snapLength: 65_536, headersOnly: false, maxBytes: 1e6, about: { alertIds: [], macs: [], ips: [] }, comment: "",
  }) as Recording;
  recording.add(viewOf(udpFrame({})), 0);
  expect(await command(parts, "pcap_delete", { pcap_id: recording.id })).toEqual({ data: { deleted: true } });
  expect(recording.add(viewOf(udpFrame({})), 0)).toBe("full");
  await recording.finish("");
  expect([files(), recorded(recording.id)]).toEqual([[], undefined]);
});

test("a disk that is slow for the continuous capture leaves buffers for evidence", () => {
  const pool = createBufferPool({ buffers: 4 });
  const share = createBufferShare(pool, 2);
  const taken = [share.take(), share.take()];
  expect([taken.includes(null), share.take(), share.inUse, pool.inUse]).toEqual([false, null, 2, 2]);
  expect(pool.take()).not.toBeNull();
  share.give(taken[0] as Buffer);
  expect([share.take() === null, pool.take() === null, pool.take(), share.take()]).toEqual([false, false, null, null]);
});

describe("an export", () => {
  const wish = (more: object = {}) => ({
    pcap_id: createId(), from: new Date((EPOCH_SECONDS - 10) * 1000).toISOString(), to: new Date((EPOCH_SECONDS + 10) * 1000).toISOString(), host: "10.0.0.1",
    peer: null, side: "both", filter: "", bytes: 1e6, ...more,
  });

  test("is begun by the collector, reported, and sent as any other file", async () => {
    const parts = await start();
    parts.sinks[0]?.onBlock(encodeFrameBlock([1, 2, 3].map((n) => ({ bytes: udpFrame({ source: `10.0.0.${n}`, destination: "10.0.0.9" }), seconds: EPOCH_SECONDS, nanoseconds: n }))), 0);
    const data = wish();
    expect(await command(parts, "pcap_export", data)).toEqual({ data: { bytes: 1e6 } });
    await expect.poll(() => recorded(data.pcap_id), { interval: 20 }).toMatchObject({ state: "whole", trigger: "export", packets: 1, ips: ["10.0.0.1"] });
    parts.noted(data.pcap_id, "whole");
    await expect.poll(async () => (await spool().list()).map(({ id }) => id)).toEqual([data.pcap_id]);
    expect(readCapture(readFileSync(spool().path(data.pcap_id)))).toMatchObject({ malformed: null, records: { length: 1 } });
    expect(parts.continuous()).toMatchObject({ problem: null });
  });

  test("takes its room once, however often it is asked for", async () => {
    const parts = await start({}, 1e9, { on_demand: { budget_megabytes: 8 } });
    parts.sinks[0]?.onBlock(encodeFrameBlock([{ bytes: udpFrame({ source: "10.0.0.1", destination: "10.0.0.9" }), seconds: EPOCH_SECONDS, nanoseconds: 0 }]), 0);
    for (let round = 0; round < 3; round += 1) {
      const data = wish({ bytes: 4e6 });
      const answers = await Promise.all([command(parts, "pcap_export", data), command(parts, "pcap_export", data)]);
      expect(answers.filter((answer) => "data" in answer)).toEqual([{ data: { bytes: 4e6 } }]);
      await expect.poll(() => recorded(data.pcap_id), { interval: 20 }).toMatchObject({ state: "whole" });
    }
  });

  test("is refused where nothing is recorded continuously, with a wrong filter, and where there is nothing", async () => {
    const parts = await start();
    expect(await command(parts, "pcap_export", wish())).toHaveProperty("refused");
    expect(await command(parts, "pcap_export", wish({ filter: "udp prot 53" }))).toHaveProperty("refused");
    const without = await start({}, 1e9, { continuous: { enabled: false } });
    expect(await command(without, "pcap_export", wish())).toHaveProperty("refused");
    expect([without.sinks, without.continuous()]).toEqual([[], null]);
  });
});
