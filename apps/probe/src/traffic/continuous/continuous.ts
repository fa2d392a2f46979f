import { join } from "node:path";
import { mkdir } from "node:fs/promises";
import type { TrafficHealth } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import type { BufferPool } from "../capture-files/buffer-pool.ts";
import { createDiskRoom, type DiskRoom, type FreeSpace } from "../capture-files/disk-room.ts";
import { filePath, partPath } from "../capture-files/facts.ts";
import { type FilePart, partOf } from "../capture-files/file-places.ts";
import type { CapturePrivacy } from "../capture-files/privacy.ts";
import type { Gap } from "../messages.ts";
import type { FlowNumbers } from "../ring/flow-numbers.ts";
import type { Sink } from "../sinks.ts";
import { createFileIndex, factsOf } from "./file-index.ts";
import { createRingFiles, readRingFolder, type RingFile, type RingFiles } from "./ring-files.ts";
import { createRingWriter, type RingWriter } from "./ring-writer.ts";
import type { ContinuousSettings } from "./settings.ts";

/** Everything that is seen, on the disk for as long as there is room for it. */
export interface ContinuousCapture {
  readonly sink: Sink;
  state(): NonNullable<TrafficHealth["continuous"]>;
  /** What may be kept of payload has changed: the next frame begins a file. */
  configure(): void;
  /** Waits until all that came is on the disk. */
  flush(): Promise<void>;
  /** @returns Files that may have it, oldest first, those that are not finished too: their path is that of their `.part` until they are. */
  find(query: ContinuousQuery): Promise<readonly ContinuousFile[]>;
  /** Keeps a file from being removed while it is read, and counts it apart. @returns False where it is gone. */
  lock(id: string): boolean;
  unlock(id: string): void;
  /** Whether a file is not finished yet: it cannot be locked, and is not removed either. */
  isUnfinished(id: string): boolean;
  /** Frames that came and are in no file. */
  dropped(): number;
  /** What lay on the disk at the start has been read. */
  readonly ready: Promise<void>;
}

/** What is looked for. Times in milliseconds since the epoch; hosts are IP or MAC addresses. */
export interface ContinuousQuery {
  readonly from: number;
  readonly to: number;
  readonly hosts: readonly string[];
}

/** A file that may have it. */
export interface ContinuousFile {
  readonly id: string;
  /** One of the two is there: a file may get its name meanwhile. */
  readonly paths: readonly [string, string];
  /** Where in it the time lies; null where all of it is to be read. */
  readonly part: FilePart | null;
}

const MEBI = 1024 * 1024;
/** For the index, which grows beside the files: it is not to take from the floor. */
const INDEX_SHARE = 64;
const MIN_INDEX_BYTES = 2 * MEBI;
const MAX_INDEX_BYTES = 64 * MEBI;
/** What stays free above the floor for evidence, captures on demand and exports, which are not to wait for the ring. */
const HEADROOM_SHARE = 6;
const MIN_HEADROOM_BYTES = 8 * MEBI;
const MAX_HEADROOM_BYTES = 256 * MEBI;
/** Of the index, for keys of conversations; the rest is for the log, and for what grows with the number of files. */
const FLOW_SHARE = 0.7;
/** Several, so that the oldest that goes is a small part of what there is. */
const MIN_FILES = 8;

/**
 * Reads what is on the disk, and begins. The first frames are written while old files are still being read.
 * @param deps.load How much there is to do, 0 to 1: while it is high, the index waits.
 * @param deps.flowsOf What the flow table knows of a block: nothing unless given.
 */
export async function openContinuous(deps: {
  readonly settings: ContinuousSettings; readonly dataDir: string; readonly interfaces: readonly string[]; readonly snapLength: number;
  readonly application: string; readonly gap?: Gap | null; readonly pool: BufferPool; readonly spare: BufferPool; readonly free: FreeSpace; readonly privacy: () => CapturePrivacy;
  readonly flowsOf?: FlowNumbers["of"]; readonly load: () => number; readonly clock: Pick<Clock, "now" | "monotonic" | "after">; readonly log: Pick<Log, "warn" | "error">;
}): Promise<ContinuousCapture> {
  const { settings, free, log } = deps;
  const folder = join(deps.dataDir, "captures", "continuous");
  const budgetBytes = settings.budget_megabytes * MEBI;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await readRingFolder(folder);
  const foundBytes = found.reduce((sum, { bytes }) => sum + bytes, 0);
  const roomBytes = foundBytes + free.free();
  const indexBytes = clamp(Math.min(budgetBytes, roomBytes) / INDEX_SHARE, MIN_INDEX_BYTES, MAX_INDEX_BYTES);
  const extraFloorBytes = indexBytes + clamp(roomBytes / HEADROOM_SHARE, MIN_HEADROOM_BYTES, MAX_HEADROOM_BYTES);
  const files = createRingFiles({ folder, found, free, room: () => room, onRemoved: (id) => index.remove(id) });
  const room: DiskRoom = createDiskRoom({
    free, budgetBytes: budgetBytes - indexBytes, extraFloorBytes, usedBytes: foundBytes,
    async makeRoom() {
      const wasUseless = files.isRemovalUseless;
      const isMade = await files.removeOldest();
      if (files.isRemovalUseless && !wasUseless) log.error({ folder }, USELESS);
      return isMade;
    },
  });
  const index = createFileIndex({
    ...deps, folder, maxFlowBytes: Math.floor((indexBytes - MEBI / 2) * FLOW_SHARE), ids: found.map(({ id }) => id),
    onFile(id, file) {
      if (file === null) files.drop(id);
      else if (files.list().some((one) => one.id === id)) files.put(file);
    },
  });
  const writer = createRingWriter({
    ...deps, folder, room, flowsOf: deps.flowsOf ?? (() => null), fileMs: settings.file_seconds * 1000,
    maxBytes() {
      const there = Math.min(budgetBytes - indexBytes, room.usedBytes + Math.max(0, free.free() - extraFloorBytes));
      return Math.min(settings.file_megabytes * MEBI, Math.floor(there / MIN_FILES));
    },
    onFinished({ path, recorded }, contents) {
      if (path === null) return;
      const file = factsOf(recorded.pcap_id, recorded.size_bytes, contents);
      files.put(file);
      index.add(file, contents);
    },
  });

  async function find({ from, to, hosts }: ContinuousQuery): Promise<readonly ContinuousFile[]> {
    const isIn = (file: RingFile) => file.from === null || file.to === null || (file.to >= from * 1000 && file.from <= to * 1000);
    // Both at once: a file that ends meanwhile is in one of the two.
    const inTime = new Map(files.list().filter(isIn).map((file) => [file.id, file]));
    const unfinished = writer.unfinished().filter(({ id }) => !inTime.has(id));
    const closed = hosts.length === 0 ? [...inTime.keys()] : await index.withHosts([...inTime.keys()], hosts);
    const placed = (id: string, part: FilePart | null) => ({ id, part, paths: [filePath(folder, id), partPath(folder, id)] as const });
    const isWithin = (file: RingFile | undefined) => file !== undefined && (file.from ?? 0) >= from * 1000 && (file.to ?? 0) <= to * 1000;
    return [
      ...closed.map((id) => placed(id, isWithin(inTime.get(id)) ? null : index.partOf(id, { from, to }))),
      ...unfinished.map(({ id, contents }) => placed(id, partOf(contents.places.encode(), { from, to }))),
    ];
  }

  const sink: Sink = {
    name: "continuous", isDivisible: true,
    onBlock: writer.onBlock,
    isReady: writer.isReady,
    shed: (frames, _octets, interfaceId) => writer.missing(interfaceId, frames, "the probe had too much to do", "probe"),
    onMissing: (interfaceId, frames, reason) => writer.missing(interfaceId, frames, reason, "kernel"),
    tick: () => writer.tick(),
    async close() {
      await writer.close();
      await index.close();
    },
  };
  const state = () => stateOf({ files, writer, budgetBytes, usedBytes: room.usedBytes });
  return {
    sink, state, find, configure: writer.rotate, flush: writer.flush, lock: files.lock, unlock: files.unlock,
    isUnfinished: (id) => writer.unfinished().some((file) => file.id === id), dropped: () => writer.dropped, ready: index.scanned,
  };
}

const USELESS = "Removing the oldest files of the continuous capture gives the disk no room: another program holds them open, or fills the disk.";

const clamp = (bytes: number, least: number, most: number) => Math.min(most, Math.max(least, Math.floor(bytes)));

function stateOf({ files, writer, budgetBytes, usedBytes }: {
  readonly files: RingFiles; readonly writer: RingWriter; readonly budgetBytes: number; readonly usedBytes: number;
}): NonNullable<TrafficHealth["continuous"]> {
  const list = files.list();
  const inMs = (microseconds: number | null | undefined) => (typeof microseconds === "number" ? Math.floor(microseconds / 1000) : null);
  const instant = (ms: number | null | undefined) => (typeof ms === "number" ? new Date(ms).toISOString() : null);
  const contents = writer.current?.contents;
  return {
    bytes: usedBytes, budget_bytes: budgetBytes, from: instant(inMs(list.find(({ from }) => from !== null)?.from) ?? contents?.firstAt),
    to: instant(contents?.lastAt ?? inMs(list.findLast(({ to }) => to !== null)?.to)), problem: files.isRemovalUseless ? USELESS : writer.problem,
  };
}
