// A process that records to a small disk as fast as it can, and exports all of it meanwhile. For tests only.
// Arguments: data directory, floor of free space in MiB, script of the probe. Prints one JSON text at its end.
import { existsSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeFrameBlock } from "@lanthorn/packet-io";
import { createId, nextTurn, pause, silentLog, systemClock } from "@lanthorn/runtime";
import { createBufferPool } from "../../capture-files/buffer-pool.ts";
import { createFreeSpace } from "../../capture-files/disk-room.ts";
import { KEEP_ALL } from "../../capture-files/privacy.ts";
import { udpFrame } from "../../capture-files/testing/frames.ts";
import { createExports } from "../../export/run-export.ts";
import { openContinuous } from "../continuous.ts";
import { ContinuousSettings } from "../settings.ts";

const MEBI = 1024 * 1024;
const BUFFERS = 24;
const RECORDED_PER_EXPORTED = 4;
const [dataDir = "", floorText = "", script = ""] = process.argv.slice(2);
const floorBytes = Number(floorText) * MEBI;
const freeBytes = () => {
  const { bavail, bsize } = statfsSync(dataDir);
  return bavail * bsize;
};

const pool = createBufferPool({ buffers: BUFFERS });
const free = createFreeSpace({ path: dataDir, floorBytes });
const common = { dataDir, interfaces: ["lan0"], snapLength: 262_144, application: "test", clock: systemClock, log: silentLog };
const capture = await openContinuous({
  load: () => 0, ...common, settings: ContinuousSettings.parse({ enabled: true, free_floor_megabytes: Number(floorText) }), pool, spare: createBufferPool({ buffers: 2 }), free, privacy: () => KEEP_ALL,
});
const frames = encodeFrameBlock(Array.from({ length: 200 }, (_, n) => ({
  bytes: udpFrame({ payload: new Uint8Array(900 + n) }), seconds: Math.floor(systemClock.now() / 1000), nanoseconds: n,
})));

let sent = 0;
/** Writes so many bytes of frames, and never more than the buffers hold. @returns The least that was free. */
async function record(megabytes: number): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  for (let bytes = 0; bytes < megabytes * MEBI; bytes += frames.end) {
    while (pool.inUse > BUFFERS / 2) {
      lowest = Math.min(lowest, freeBytes());
      await nextTurn();
    }
    capture.sink.onBlock(frames, 0);
    sent += frames.frames;
    capture.sink.tick?.(systemClock.now());
    lowest = Math.min(lowest, freeBytes());
    await nextTurn();
  }
  return lowest;
}

const alone = await record(300);
// Another program takes some of the room, below the floor too; it is given back to the floor by the next writes.
writeFileSync(join(dataDir, "of-another"), Buffer.alloc(10 * MEBI));
await record(40);
const beside = await record(100);
rmSync(join(dataDir, "of-another"));
const finished: unknown[] = [];
const exporting = createExports({
  ...common, continuous: capture, program: [process.execPath, ...process.execArgv, script], floorBytes, load: () => 0, privacy: () => KEEP_ALL,
  onFinished: ({ recorded }) => void finished.push({ state: recorded.state, packets: recorded.packets, detail: recorded.detail }),
});
const id = createId();
const refusal = await exporting.start({
  pcap_id: id, from: new Date(0).toISOString(), to: new Date(systemClock.now() + 60_000).toISOString(), host: "10.0.0.1", peer: null, side: "both",
  filter: "", bytes: 4 * MEBI,
}, { maxBytes: 4 * MEBI });
let during = Number.POSITIVE_INFINITY;
if (refusal !== null) throw new Error(refusal.refused);
const folder = join(dataDir, "captures", "files");
const sizeOf = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
const exported = () => (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.startsWith(id)).reduce((sum, name) => sum + sizeOf(name), 0);
// Its process has the lowest priority: four octets are recorded for each that it has written, so that a slow machine's ring is not recorded over before.
let megabytes = 0;
while (finished.length === 0) {
  const due = Math.floor(exported() * RECORDED_PER_EXPORTED / MEBI) + 1;
  if (due > megabytes) {
    during = Math.min(during, await record(due - megabytes));
    megabytes = due;
  }
  await pause(systemClock, 5);
}
const { problem, bytes } = capture.state();
await capture.sink.close();
await exporting.close();
process.stdout.write(`${JSON.stringify({ alone, beside, during, finished, problem, bytes, sent, dropped: capture.dropped() })}\n`);
process.exit(0);
