import { createHash, randomBytes } from "node:crypto";
import { constants, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PcapRecorded } from "@lanthorn/contract/uplink";
import { allocatePages, openPieceWriter } from "@lanthorn/packet-io";
import { readCapture } from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { DebianRoot } from "../../../../../test/lab/debian-packages.ts";
import { tryCommand } from "../../../../../test/lab/run-command.ts";
import { unpackOrSay } from "../../../../../packages/packets/src/testing/tshark.ts";
import { BUFFER_BYTES, createBufferPool, createFileWriter, type FileWriter } from "./buffer-pool.ts";
import { openCaptureFile } from "./capture-file.ts";
import { createDiskRoom, createFreeSpace } from "./disk-room.ts";
import { EPOCH_SECONDS, fileOptions, received, udpFrame, viewOf } from "./testing/frames.ts";

let folder: string;
let wireshark: DebianRoot | null;

beforeAll(async () => {
  wireshark = await unpackOrSay(["tshark", "wireshark-common"], "what tshark and capinfos say of our files");
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-capture-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs tshark or capinfos; what they warn of is on standard error. */
async function ask(name: string, args: readonly string[]): Promise<string> {
  const { path, env } = (wireshark as DebianRoot).command(name);
  const { code, stdout, stderr } = await tryCommand(path, args, { env: { ...env, HOME: "/nonexistent" } });
  const warnings = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("Running as user"));
  expect({ code, warnings }).toEqual({ code: 0, warnings: [] });
  return stdout;
}

describe("a capture file", () => {
  test("holds what it was given, has its name only when it is whole, and its checksum is the file's", async () => {
    const file = openCaptureFile(fileOptions(folder));
    const frames = Array.from({ length: 3000 }, (_, n) => udpFrame({ payload: randomBytes(n % 1400), destinationPort: 1 + (n % 5) }));
    for (const [n, frame] of frames.entries()) expect(file.add(viewOf(frame, n * 10), 0)).toBe("added");
    await file.flush();
    expect(readdirSync(folder).toSorted()).toEqual([`${file.id}.json`, `${file.id}.pcapng.part`]);
    const { path, recorded } = await file.finish([received(3000)]);
    expect(readdirSync(folder).toSorted()).toEqual([`${file.id}.json`, `${file.id}.pcapng`]);
    const bytes = readFileSync(path as string);
    const { records, malformed } = readCapture(bytes);
    expect(malformed).toBeNull();
    expect(records.map((record) => Buffer.from(record.bytes).equals(frames[records.indexOf(record)] as Buffer))).toEqual(frames.map(() => true));
    expect(records.map(({ seconds, nanoseconds }) => (seconds - EPOCH_SECONDS) * 1000 + nanoseconds / 1e6)).toEqual(frames.map((_, n) => n * 10));
    expect(PcapRecorded.parse(recorded)).toEqual(recorded);
    expect(recorded).toMatchObject({
      state: "whole", detail: "", packets: 3000, size_bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex"),
      started_at: "2023-11-14T22:13:20.000Z", finished_at: "2023-11-14T22:13:49.990Z", counters: { received: 3000 },
    });
    expect(JSON.parse(readFileSync(join(folder, `${file.id}.json`), "utf8"))).toEqual({ recorded, is_reported: false });
    expect(statSync(path as string).mode & 0o777).toBe(0o600);
  });

  test("of the continuous capture goes past the kernel's cache where the disk keeps up, and has every frame in either case", async () => {
    let isSlow = false;
    let now = 0;
    const past: boolean[] = [];
    const pieces = openPieceWriter(systemClock);
    const writer = createFileWriter(pieces, { isFull: () => isSlow, clock: { monotonic: () => (now += isSlow ? 100 : 1) } });
    const writePast: FileWriter["writePast"] = async (...written) => {
      const isPast = await writer.writePast(...written);
      past.push(isPast);
      return isPast;
    };
    const pool = createBufferPool({ buffers: 8, memory: allocatePages(8 * BUFFER_BYTES), writer: { ...writer, writePast } });
    const file = openCaptureFile(fileOptions(folder, { about: null, pool }));
    const frames = Array.from({ length: 60_000 }, (_, n) => udpFrame({ payload: Buffer.alloc(n % 900, n), destinationPort: 1 + (n % 5) }));
    for (const [n, frame] of frames.entries()) {
      isSlow = n % 10_000 > 7000;
      while (file.add(viewOf(frame, n), 0) === "busy") await file.ready();
      if (n % 3777 === 0) await file.flush();
    }
    const { path, recorded } = await file.finish([received(frames.length)]);
    const { records, malformed } = readCapture(readFileSync(path as string));
    expect([recorded.state, malformed, records.length]).toEqual(["whole", null, frames.length]);
    expect(records.every(({ bytes }, index) => Buffer.from(bytes).equals(frames[index] as Buffer))).toBe(true);
    const isOffered = await open(path as string, constants.O_WRONLY | constants.O_DIRECT).then(async (direct) => (await direct.close(), true), () => false);
    expect([past.includes(true), past.includes(false)]).toEqual([isOffered, true]);
  });

  test("counts as the file that it is where the disk refuses the note of it", async () => {
    const file = openCaptureFile(fileOptions(folder));
    expect(file.add(viewOf(udpFrame({})), 0)).toBe("added");
    await file.flush();
    // What stands where the note is to be written is no file, and cannot be replaced by one.
    mkdirSync(join(folder, `${file.id}.json.new`));
    const { path, recorded } = await file.finish([received(1)]);
    expect(recorded).toMatchObject({ state: "whole", packets: 1, size_bytes: statSync(path ?? "").size });
  });

  test("leaves out more from the next frame on when that is wanted, says so there, and never less again", async () => {
    const file = openCaptureFile(fileOptions(folder, { interfaces: [{ name: "lan0", snapLength: 262_144 }, { name: "lan1", snapLength: 262_144 }] }));
    const secret = udpFrame({ payload: Buffer.alloc(200, 1) });
    const add = (comment?: string) => expect(file.add(viewOf(secret), 1, comment)).toBe("added");
    add();
    file.narrow({ headersOnly: false, headersOnlyNetworks: ["192.0.2.0/24"] });
    add("lanthorn alert 1");
    file.narrow({ headersOnly: true, headersOnlyNetworks: [] });
    add("lanthorn alert 2");
    file.narrow({ headersOnly: false, headersOnlyNetworks: [] });
    add();
    const { path, recorded } = await file.finish([received(0), received(4)]);
    const { records } = readCapture(readFileSync(path as string));
    expect(records.map(({ bytes }) => bytes.length)).toEqual([242, 242, 42, 42]);
    const text = readFileSync(path as string).toString("latin1");
    expect(text).toMatch(/lanthorn alert 1; from this frame on: [^;]*192\.0\.2\.0\/24[^]*lanthorn alert 2; from this frame on: Only headers/);
    expect(text.match(/from this frame on/g)).toHaveLength(2);
    expect(recorded).toMatchObject({ state: "whole", headers_only: true, detail: expect.stringContaining("2023-11-14T22:13:20.000Z") });
  });

  test("opens in tshark and capinfos without a warning, with comments, directions, filter and counters", async (context) => {
    if (!wireshark) context.skip();
    const file = openCaptureFile(fileOptions(folder, {
      filter: "udp port 53", comment: "Evidence of an alert.",
      interfaces: [{ name: "lan0", snapLength: 262_144, description: "the office", mac: Uint8Array.of(2, 0, 0, 0, 0, 9) }, { name: "lan1", snapLength: 60 }],
    }));
    file.add(viewOf(udpFrame({}), 0, { nanoseconds: 123_456_789 }), 0);
    file.add(viewOf(udpFrame({ payload: randomBytes(200) }), 5000, { isOutgoing: true }), 1, "lanthorn alert 0190");
    file.missing(0, 7, "the ring had lost them");
    file.missing(0, 5, "the ring had lost them");
    file.add(viewOf(udpFrame({ payload: randomBytes(1) }), 4_000_000_000), 0, "späte Antwort");
    file.missing(1, 2, "the probe was too slow");
    const { path } = await file.finish([
      { received: 100, droppedByInterface: 1, droppedByKernel: 2, droppedByProbe: 12, leftOut: 40 }, { received: 9, droppedByInterface: 0, droppedByKernel: 0, droppedByProbe: 2, leftOut: 6 },
    ]);
    const fields = ["frame.time_epoch", "frame.len", "frame.cap_len", "frame.interface_name", "frame.packet_flags_direction", "frame.comment"];
    const rows = await ask("tshark", ["-n", "-r", path as string, "-T", "fields", "-E", "separator=|", ...fields.flatMap((field) => ["-e", field])]);
    expect(rows.trimEnd().split("\n")).toEqual([
      "1700000000.123456789|62|62|lan0|0x00000001|",
      "1700000005.000000000|242|60|lan1|0x00000002|lanthorn alert 0190",
      "1704000000.000000000|60|60|lan0|0x00000001|späte Antwort; 12 frames are missing before this one: the ring had lost them",
    ]);
    const facts = await ask("capinfos", ["-M", path as string]);
    expect(facts).toMatch(/Number of packets:\s+3\n/);
    expect(facts).toContain("Evidence of an alert.");
    expect(facts).toContain("lanthorn-probe test");
    expect(facts.match(/udp port 53/g)).toHaveLength(2);
    expect(facts).toMatch(/Time precision = nanoseconds/);
    expect(facts).toMatch(/Number of stat entries = 1/);
    const bytes = readFileSync(path as string).toString("latin1");
    expect(bytes).toContain("received 100, left out by the filter 40, dropped by the kernel 2, dropped by the probe 12");
    expect(bytes).toContain("2 frames are missing at the end: the probe was too slow");
  });

  test("is never longer than it may be, and its statistics fit", async () => {
    for (const maxBytes of [4000, 10_000, 700_000, 1_300_000]) {
      const file = openCaptureFile(fileOptions(folder, { maxBytes, pool: createBufferPool({ buffers: 4 }) }));
      let added = 0;
      for (let result = ""; result !== "full"; added += result === "added" ? 1 : 0) {
        result = file.add(viewOf(udpFrame({ payload: new Uint8Array(1000) })), 0);
        if (result === "busy") await file.ready();
      }
      const { path, recorded } = await file.finish([received(added)]);
      expect(recorded).toMatchObject({ state: "whole", packets: added });
      expect(statSync(path as string).size).toBeLessThanOrEqual(maxBytes);
      expect(statSync(path as string).size).toBeGreaterThan(maxBytes - 4000);
      expect(readCapture(readFileSync(path as string))).toMatchObject({ malformed: null, records: { length: added } });
    }
  });

  test("an empty one is a file too, and an abandoned one is none", async () => {
    const empty = openCaptureFile(fileOptions(folder));
    const { path, recorded } = await empty.finish([{ ...received(9), leftOut: 9 }]);
    expect(recorded).toMatchObject({ state: "whole", packets: 0, counters: { received: 9, left_out: 9 } });
    expect(readCapture(readFileSync(path as string))).toMatchObject({ malformed: null, records: [] });
    rmSync(folder, { recursive: true });
    const options = fileOptions(tmpdir(), { folder });
    const abandoned = openCaptureFile(options);
    abandoned.add(viewOf(udpFrame({})), 0);
    await abandoned.abandon();
    expect([readdirSync(folder), options.room.usedBytes]).toEqual([[], 0]);
    expect(abandoned.add(viewOf(udpFrame({})), 0)).toBe("full");
  });

  test("is failed, and nothing throws, where its folder cannot be", async () => {
    writeFileSync(join(folder, "taken"), "");
    const file = openCaptureFile(fileOptions(folder, { folder: join(folder, "taken") }));
    file.add(viewOf(udpFrame({})), 0);
    await file.flush();
    expect(file.add(viewOf(udpFrame({})), 0)).toBe("full");
    expect(await file.finish([])).toMatchObject({ path: null, recorded: { state: "failed", size_bytes: 0 } });
  });
});

describe("the disk", () => {
  const fill = async (options: ReturnType<typeof fileOptions>, frames: number) => {
    const file = openCaptureFile(options);
    const results = new Map<string, number>();
    for (let n = 0; n < frames; n += 1) {
      const result = file.add(viewOf(udpFrame({ payload: new Uint8Array(1400) })), 0);
      results.set(result, (results.get(result) ?? 0) + 1);
      if (result === "busy") await file.ready();
    }
    return { results, facts: await file.finish([received(frames)]) };
  };

  test("is given back as it was claimed, however many buffers one call writes", async () => {
    const free = createFreeSpace({ path: folder, floorBytes: 0, freeBytes: () => 1e9 });
    await fill(fileOptions(folder, { room: createDiskRoom({ free, budgetBytes: 1e9 }), pool: createBufferPool({ buffers: 16 }) }), 8000);
    expect(free.free()).toBe(1e9);
  });

  test("is asked before a byte is written: beyond budget or floor a file ends whole at a block and is cut", async () => {
    for (const [why, budgetBytes, floorBytes] of [["budget", 12_000_000, 0], ["floor", 1e9, 88_000_000]] as const) {
      let lowest = Infinity;
      const freeBytes = () => {
        const used = readdirSync(folder).reduce((sum, name) => sum + (existsSync(join(folder, name)) ? Math.ceil(statSync(join(folder, name)).size / 4096) * 4096 : 0), 0);
        lowest = Math.min(lowest, 100_000_000 - used);
        return 100_000_000 - used;
      };
      const room = createDiskRoom({ free: createFreeSpace({ path: folder, floorBytes, freeBytes }), budgetBytes });
      const { facts: { path, recorded } } = await fill(fileOptions(folder, { room }), 20_000);
      expect(recorded.state).toBe("cut");
      expect(recorded.detail).toContain(why === "budget" ? "used up" : "kept free");
      // What is on its way counts twice near the floor, as claimed and on the disk: six buffers at most.
      expect(recorded.size_bytes).toBeGreaterThan(8_000_000);
      expect(room.usedBytes).toBe(recorded.size_bytes);
      expect(recorded.size_bytes).toBeLessThanOrEqual(12_000_000);
      freeBytes();
      expect(lowest).toBeGreaterThanOrEqual(floorBytes - 8192);
      const { records, malformed } = readCapture(readFileSync(path as string));
      expect([records.length, malformed]).toEqual([recorded.packets, null]);
      expect(recorded.summary?.flows[0]?.packets).toBe(recorded.packets);
      expect(createHash("sha256").update(readFileSync(path as string)).digest("hex")).toBe(recorded.sha256);
      rmSync(path as string);
    }
  });

  test("that waits makes `busy`, and takes no more memory than the pool has", async () => {
    const pool = createBufferPool({ buffers: 2 });
    let release = () => {};
    const held = new Promise<null>((resolve) => {
      release = () => resolve(null);
    });
    const room = { claim: () => held, settle: () => {}, removed: () => {}, added: () => {}, usedBytes: 0 };
    const file = openCaptureFile(fileOptions(folder, { pool, room }));
    let added = 0;
    while (file.add(viewOf(udpFrame({ payload: new Uint8Array(1400) })), 0) === "added") added += 1;
    expect(added).toBeGreaterThan(600);
    expect(added).toBeLessThan(750);
    expect(pool.inUse).toBe(2);
    release();
    await file.ready();
    expect(file.add(viewOf(udpFrame({})), 0)).toBe("added");
    expect((await file.finish([])).recorded).toMatchObject({ state: "whole", packets: added + 1 });
    expect(pool.inUse).toBe(0);
  });
});
