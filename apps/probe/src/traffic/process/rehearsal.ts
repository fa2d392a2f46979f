import { rm } from "node:fs/promises";
import { encodeFrameBlock, type FrameBlock } from "@lanthorn/packet-io";
import { encodeEthernet, encodeIpv4, encodeUdp, ETHER_TYPE, IP_PROTOCOL } from "@lanthorn/packets";
import { type Clock, nextTurn, pause, silentLog, systemClock } from "@lanthorn/runtime";
import { type BufferPool, createBufferShare, type FileWriter } from "../capture-files/buffer-pool.ts";
import { createDiskRoom } from "../capture-files/disk-room.ts";
import { KEEP_ALL } from "../capture-files/privacy.ts";
import { createRingWriter, type RingWriter } from "../continuous/ring-writer.ts";
import type { Pace } from "../paced-work.ts";
import { createMemoryRing, type MemoryRing } from "../ring/memory-ring.ts";
import type { Sink } from "../sinks.ts";
import { createFramePath, type FramePath } from "./frame-path.ts";

/** What a stretch of the rehearsal is like. */
interface Scene {
  /** Which part of the kernel's ring waits: 0 to 1. */
  readonly kernelLoad: number;
  readonly disk: "fast" | "slow" | "still";
  /** So many times blocks come, so many at once. */
  readonly blocks: number;
  readonly burst: number;
}

/** A flood from its beginning to its end, with a new file at each end. */
const SCENES: readonly Scene[] = [
  { kernelLoad: 0, disk: "fast", blocks: 24, burst: 3 },
  { kernelLoad: 0.5, disk: "fast", blocks: 12, burst: 6 },
  { kernelLoad: 0.1, disk: "slow", blocks: 16, burst: 3 },
  { kernelLoad: 0, disk: "still", blocks: 24, burst: 4 },
  { kernelLoad: 0.9, disk: "slow", blocks: 24, burst: 12 },
  { kernelLoad: 0, disk: "fast", blocks: 50, burst: 1 },
];
/** Each on another stage: what was compiled for the only one there is is of no use to the next. */
const TIMES = 6;
/** Of the clock of the stage; what is slow takes several of them. */
const BLOCK_MS = 10;
const SLOW_MS = 35;
const STILL_MS = 60;
/** Each time that somebody asks for it: a turn of the event loop takes longer than it may, as in a flood. */
const ASKED_MS = 0.05;
/** Of the machine's clock. */
const CLOSE_MS = 2;

const BLOCK_FRAMES = 24;
const FRAME_OCTETS = [1400, 1400, 1400, 600, 90] as const;
const HOSTS = 16;
const BUFFERS = 2;
const SPARE_BUFFERS = 1;
const FILE_BYTES = 4 * 1024 * 1024;
const FILE_MS = 60_000;
const RING_SECONDS = 30;
const EPOCH_SECONDS = 1_700_000_000;

/**
 * Plays an overload to the code that has to withstand one, on a stage of its own: memory, queue, table of sinks and files of the continuous capture, of which
 * nothing is written. V8 compiles what is called often, as it was called until then; what has never met a full buffer, a slow disk or a second file is thrown away
 * by the first flood and interpreted for up to 0.4 s, in which half a million frames pass. To play it takes some 0.5 s of a core, by and by.
 * @param deps.folder One that is removed before and afterwards.
 * @param deps.pool Lends memory: four buffers at most.
 * @param deps.pace Awaited after each block.
 * @param deps.clock The machine's, by which every second time is played: what was compiled for another one is of no use to it.
 * @returns False where it was stopped, or nothing was lent.
 */
export async function rehearseOverload({ folder, pool, pace, clock }: {
  readonly folder: string; readonly pool: BufferPool; readonly pace: Pace; readonly clock: StageClock;
}): Promise<boolean> {
  const ringMemory = pool.take();
  if (ringMemory === null) return false;
  try {
    let goesOn = true;
    for (let time = 0; time < TIMES && goesOn; time += 1) {
      await rm(folder, { recursive: true, force: true });
      const stage = openStage({ folder, ringMemory, pool, given: time % 2 === 0 ? null : clock });
      try {
        goesOn = await stage.play(pace);
      } finally {
        await stage.close();
      }
    }
    return goesOn;
  } finally {
    pool.give(ringMemory);
    await rm(folder, { recursive: true, force: true });
  }
}

type StageClock = Pick<Clock, "now" | "monotonic" | "after">;

/** @param deps.given By which all goes but the disk; null for the same as the disk's, which is moved by hand. */
function openStage({ folder, ringMemory, pool, given }: {
  readonly folder: string; readonly ringMemory: Buffer; readonly pool: BufferPool; readonly given: StageClock | null;
}) {
  const moved = createMovedClock();
  const clock = given ?? moved;
  const disk = createStageDisk(moved);
  const room = createDiskRoom({ budgetBytes: 2 ** 30, free: { holds: () => true, claim: () => {}, settle: () => {}, free: () => 2 ** 30 } });
  const writer = createRingWriter({
    folder, room, clock, log: silentLog, interfaces: ["stage"], snapLength: 262_144, application: "lanthorn-probe", privacy: () => KEEP_ALL, maxBytes: () => FILE_BYTES,
    flowsOf: ({ offset }) => (offset === 0 ? null : flows), fileMs: FILE_MS, onFinished: () => {}, pool: createBufferShare(pool, BUFFERS, disk), spare: createBufferShare(pool, SPARE_BUFFERS, disk.cache),
  });
  const flows = Uint32Array.from({ length: BLOCK_FRAMES }, (_, index) => index);
  let kernelLoad = 0;
  const ring = createMemoryRing({ memory: ringMemory, seconds: RING_SECONDS, onEvict: (block) => queue.leaving(block) });
  const { queue, take } = createFramePath({ ring, ringBytes: ringMemory.length, sinks: sinksOf(writer), kernelLoad: () => kernelLoad, clock, log: silentLog });
  const bring = createBringing(ring, take);
  return {
    /** @returns False where it was stopped. */
    async play(pace: Pace): Promise<boolean> {
      for (const scene of SCENES) {
        kernelLoad = scene.kernelLoad;
        disk.takes = scene.disk;
        for (let block = 0; block < scene.blocks; block += 1) {
          for (let burst = 0; burst < scene.burst; burst += 1) bring();
          moved.pass(BLOCK_MS);
          ring.tick(clock.monotonic());
          queue.behind(() => writer.missing(0, 0, "rehearsed: not read", "kernel"));
          if (!(await pace())) return false;
        }
        if (scene.disk === "fast") writer.rotate();
        writer.tick();
      }
      return true;
    },
    async close(): Promise<void> {
      disk.takes = "fast";
      let isClosed = false;
      const closing = queue.close().then(writer.close).finally(() => {
        isClosed = true;
      });
      const isOver = () => isClosed;
      // Files are real ones: on a slow disk that takes a while.
      for (; !isOver(); await pause(systemClock, CLOSE_MS)) moved.pass(STILL_MS);
      await closing;
    },
  };
}

/** As many as there are, and no two alike: V8 looks at how objects are made. The last one is left out by and by. */
function sinksOf(writer: RingWriter): readonly Sink[] {
  const [onBlock, shed, close] = [() => undefined, () => undefined, () => Promise.resolve()];
  return [
    { name: "ring", onBlock, shed, close }, { name: "evidence", shed, onBlock, close }, { name: "on_demand", onBlock, close, shed }, { name: "flows", close, onBlock, shed },
    { name: "inspection", close, shed, onBlock },
    {
      name: "continuous", isDivisible: true, onBlock: writer.onBlock, isReady: writer.isReady, close: writer.close,
      shed: (frames, _octets, interfaceId) => writer.missing(interfaceId, frames, "rehearsed: left out", "probe"),
    },
  ];
}

/** @returns Brings a block, as a reader does. */
function createBringing(ring: MemoryRing, take: FramePath["take"]): () => void {
  const made = encodeBlock();
  return () => {
    const { bytes, offset } = ring.allocate(made.end);
    made.bytes.copy(bytes, offset, 0, made.end);
    take({ bytes, offset, end: offset + made.end, frames: made.frames }, 0);
  };
}

/** UDP between some hosts, in frames of several lengths. */
function encodeBlock(): FrameBlock {
  return encodeFrameBlock(Array.from({ length: BLOCK_FRAMES }, (_, index) => {
    const ends = { source: Uint8Array.of(192, 0, 2, index % HOSTS), destination: Uint8Array.of(192, 0, 2, 200) };
    const payload = new Uint8Array(FRAME_OCTETS[index % FRAME_OCTETS.length] ?? 0);
    const bytes = encodeEthernet({
      source: Uint8Array.of(2, 0, 0, 0, 0, index % HOSTS), destination: Uint8Array.of(2, 0, 0, 0, 1, 0), etherType: ETHER_TYPE.ipv4,
      payload: encodeIpv4({ protocol: IP_PROTOCOL.udp, ...ends, payload: encodeUdp({ sourcePort: 1024 + index, destinationPort: 9, payload }, ends) }),
    });
    return { bytes, seconds: EPOCH_SECONDS, nanoseconds: index };
  }));
}

/** A clock that is moved by hand. */
function createMovedClock() {
  let elapsed = 0.5;
  let tasks: { readonly at: number; readonly task: () => void }[] = [];
  return {
    now: () => EPOCH_SECONDS * 1000 + elapsed,
    monotonic() {
      elapsed += ASKED_MS;
      return elapsed;
    },
    after(delayMs: number, task: () => void): () => void {
      const entry = { at: elapsed + delayMs, task };
      tasks.push(entry);
      return () => {
        tasks = tasks.filter((one) => one !== entry);
      };
    },
    pass(ms: number): void {
      elapsed += ms;
      const due = tasks.filter(({ at }) => at <= elapsed);
      tasks = tasks.filter(({ at }) => at > elapsed);
      for (const { task } of due) task();
    },
  };
}

/** A disk that takes everything, sooner or later, and keeps nothing. */
function createStageDisk(clock: Pick<Clock, "after">) {
  const cache: FileWriter = {
    async write(_file, bytes) {
      await nextTurn();
      return bytes.length;
    },
    writePast: () => Promise.resolve(false),
    stalledMs: () => 0,
  };
  const disk = {
    cache, takes: "fast" as Scene["disk"], write: cache.write,
    async writePast() {
      if (disk.takes === "fast") await nextTurn();
      else await new Promise<void>((resolve) => void clock.after(disk.takes === "slow" ? SLOW_MS : STILL_MS, resolve));
      return true;
    },
    stalledMs: () => (disk.takes === "still" ? STILL_MS : 0),
  };
  return disk;
}
