import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFrameBlock } from "@lanthorn/packet-io";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createBufferPool } from "../capture-files/buffer-pool.ts";
import { createFreeSpace } from "../capture-files/disk-room.ts";
import { readOwnFile } from "../capture-files/own-file-reader.ts";
import { KEEP_ALL } from "../capture-files/privacy.ts";
import { EPOCH_SECONDS, udpFrame } from "../capture-files/testing/frames.ts";
import { type ContinuousCapture, openContinuous } from "./continuous.ts";
import { ContinuousSettings } from "./settings.ts";

let dataDir: string;
let folder: string;
const open: ContinuousCapture[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-continuous-"));
  folder = join(dataDir, "captures", "continuous");
});
afterEach(async () => {
  for (const capture of open.splice(0)) await capture.sink.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const names = () => readdirSync(folder);
/** One file takes all that is recorded. */
async function start(): Promise<ContinuousCapture> {
  const capture = await openContinuous({
    settings: ContinuousSettings.parse({ enabled: true, budget_megabytes: 256, free_floor_megabytes: 0, file_seconds: 3600, file_megabytes: 16 }), dataDir,
    interfaces: ["lan0"], snapLength: 262_144, application: "test", pool: createBufferPool({ buffers: 16 }), spare: createBufferPool({ buffers: 2 }), privacy: () => KEEP_ALL, load: () => 0,
    free: createFreeSpace({ path: dataDir, floorBytes: 0 }), clock: createFakeClock(EPOCH_SECONDS * 1000), log: silentLog,
  });
  open.push(capture);
  return capture;
}

/** Numbers of the frames that lie in the parts of files in which a time is, and how much of the files that is. */
async function readTime(capture: ContinuousCapture, fromSeconds: number, toSeconds: number) {
  const [from, to] = [(EPOCH_SECONDS + fromSeconds) * 1000, (EPOCH_SECONDS + toSeconds) * 1000];
  const numbers: number[] = [];
  let [octets, all] = [0, 0];
  for (const { paths, part } of await capture.find({ from, to, hosts: [] })) {
    const path = paths.find((one) => existsSync(one)) ?? "";
    const file = await openFile(path, "r");
    const { size } = await file.stat();
    octets += Math.min(size, part?.to ?? size) - (part?.from ?? 0);
    all += size;
    await readOwnFile(file, {
      part, chunkBytes: 64 * 1024,
      onPacket({ bytes, offset, seconds }) {
        if (seconds * 1000 >= from && seconds * 1000 <= to) numbers.push(bytes.readUInt32BE(offset + 42));
      },
    });
    await file.close();
  }
  return { numbers, share: octets / all };
}

test.each([
  ["while it is written", (capture: ContinuousCapture) => Promise.resolve(capture)],
  ["when it has ended", async (capture: ContinuousCapture) => {
    capture.configure();
    await capture.flush();
    return capture;
  }],
  ["after a new start", async (capture: ContinuousCapture) => {
    await capture.sink.close();
    return start();
  }],
  ["when the index has gone", async (capture: ContinuousCapture) => {
    await capture.sink.close();
    rmSync(join(folder, "index.sqlite"));
    return start();
  }],
  ["after a crash", async (capture: ContinuousCapture) => {
    const name = names().find((one) => one.endsWith(".part")) ?? "";
    copyFileSync(join(folder, name), join(dataDir, name));
    await capture.sink.close();
    for (const one of names()) rmSync(join(folder, one));
    copyFileSync(join(dataDir, name), join(folder, name));
    truncateSync(join(folder, name), statSync(join(folder, name)).size - 5);
    return start();
  }],
] as const)("a short time is found without the rest of the file, %s", async (_, reopen) => {
  const before = await start();
  // Each frame is up to two seconds late, as of another interface's block.
  for (let second = 1; second <= 60; second += 1) {
    before.sink.onBlock(encodeFrameBlock(Array.from({ length: 200 }, (__, n) => {
      const payload = new Uint8Array(1000);
      new DataView(payload.buffer).setUint32(0, second * 1000 + n);
      return { bytes: udpFrame({ payload }), seconds: EPOCH_SECONDS + second - (n % 3), nanoseconds: n };
    })), 0);
    await before.flush();
  }
  const capture = await reopen(before);
  await capture.ready;
  const { numbers, share } = await readTime(capture, 20, 24);
  const expected = Array.from({ length: 60 * 200 }, (__, at) => ({ s: 1 + Math.floor(at / 200), n: at % 200 }))
    .filter(({ s, n }) => s - (n % 3) >= 20 && s - (n % 3) <= 24).map(({ s, n }) => s * 1000 + n);
  expect(numbers).toEqual(expected);
  expect(share).toBeLessThan(0.4);
});
