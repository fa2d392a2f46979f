import { join } from "node:path";
import type { CommandData } from "@lanthorn/contract/uplink";
import { allocatePages, KERNEL_RING_OCTETS, openPieceWriter } from "@lanthorn/packet-io";
import { type Clock, describeError, type Log, pause } from "@lanthorn/runtime";
import { createHomeNetworks } from "../../intrusions/home-networks.ts";
import { createSpool } from "../../files/spool.ts";
import { openBehaviour, type SiteBehaviour } from "../anomalies/behaviour.ts";
import { createOwnNetworks } from "../anomalies/own-networks.ts";
import { BUFFER_BYTES, type BufferPool, createBufferPool, createBufferShare, createFileWriter } from "../capture-files/buffer-pool.ts";
import { createFreeSpace, type FreeSpace } from "../capture-files/disk-room.ts";
import { type CaptureFileFacts, markReported, removeCaptureFile } from "../capture-files/facts.ts";
import { type CapturePrivacy, privacyOf } from "../capture-files/privacy.ts";
import { filesFolder, findLeftFiles } from "../capture-files/repair.ts";
import { openContinuous } from "../continuous/continuous.ts";
import { createExports } from "../export/run-export.ts";
import type { CommandAnswer, FromProcess } from "../messages.ts";
import { BUSY_LOAD, createPacedWork } from "../paced-work.ts";
import { createFlowNumbers } from "../ring/flow-numbers.ts";
import { fromMegabytes } from "../settings.ts";
import { carryOutCommand } from "./commands.ts";
import { createFileRooms, type FileRooms, leastBytesOf } from "./rooms/file-rooms.ts";
import { repairLeftFiles } from "./left-files.ts";
import { createRecordings } from "./recordings.ts";
import { rehearseOverload } from "./rehearsal.ts";
import { createReports } from "./reports.ts";
import { createStoredFiles } from "./rooms/stored-files.ts";
import type { Begin } from "./traffic-process.ts";
import type { TrafficParts } from "./traffic-parts.ts";
import { createUploads } from "./uploads.ts";

/** Of 512 KiB each. An open file has one or two; the rest is for what the disk has not yet taken. Memory that was never used is not resident: it is taken from where the ring begins. */
const BUFFERS = 32;
/** One is filled, eight are written and eight wait. A slow disk must not let the continuous capture take what evidence and captures on demand are written from. */
const CONTINUOUS_BUFFERS = 18;
/** The kernel's cache takes them at once. Where the disk stands still or takes less than what comes, they are taken beside the others: with two of them 460,000 frames of 1,500 octets a second were too many. */
const SPARE_BUFFERS = 6;
/** An overload is rehearsed when the start is over, or later: so many times at most. */
const REHEARSALS = 5;
const REHEARSE_AFTER_MS = 2000;
const REHEARSE_AGAIN_MS = 10_000;
const REPORT_MS = 1000;
const FLUSH_MS = 2000;
const UPLOAD_MS = 5000;
const AGE_MS = 3_600_000;
/** An export is never larger than what the disk has above its floor, less this. */
const EXPORT_MARGIN_BYTES = fromMegabytes(4);
const MIN_EXPORT_BYTES = fromMegabytes(1);

interface PartsDeps {
  readonly begin: Begin;
  readonly program: readonly string[];
  readonly send: (message: FromProcess) => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** The subnets of this machine's interfaces. */
  readonly ownNetworks: () => readonly string[];
}

/** Opens what writes files, and begins to put in order what an earlier process left. */
export async function openParts(deps: PartsDeps): Promise<TrafficParts> {
  const { begin, clock, log } = deps;
  const { settings, data_dir: dataDir } = begin;
  let { site } = begin;
  let load = 0;
  const privacy = () => privacyOf(site);
  const folder = filesFolder(dataDir);
  const reports = createReports(deps);
  const stored = createStoredFiles({ folder, onRemoved: reports.report, leastBytes: (trigger) => leastBytesOf(settings, trigger) });
  const left = await findLeftFiles(folder, stored.found);
  const free = createFreeSpace({ path: dataDir, floorBytes: fromMegabytes(settings.continuous.free_floor_megabytes), clock });
  const rooms = createFileRooms({ free, settings, stored, clock, log });
  const uploads = createUploads({ spool: createSpool({ dataDir, budgetBytes: begin.spool_bytes }), dataDir, onGone: rooms.forget, log });
  for (const id of site.upload === "at_once" ? [...stored.reported, ...stored.wanted] : stored.wanted) uploads.want(id);
  const { ringMemory, pool, continuousPool, spare } = openMemory(settings, clock);
  const application = `lanthorn-probe ${begin.version}`;
  const onFinished = ({ path, recorded }: CaptureFileFacts) => {
    rooms.finished(recorded.pcap_id);
    if (path !== null) rooms.of(recorded.trigger).added(stored.add(recorded));
    reports.report(recorded);
  };
  const shared = { dataDir, interfaces: settings.interfaces, snapLength: settings.snap_length, application, clock, log };
  const recordings = createRecordings({ ...shared, folder, pool, site: () => site, roomOf: rooms.forFile, onFinished });
  const flowNumbers = createFlowNumbers();
  const continuous = settings.continuous.enabled ? await openContinuous({
    ...shared, flowsOf: flowNumbers.of, settings: settings.continuous, gap: begin.gaps.at(-1) ?? null, pool: continuousPool, spare, free, privacy,
    // Where so many buffers wait, the disk is slow: a write of the index would wait too, and the frames with it.
    load: () => (pool.inUse < CONTINUOUS_BUFFERS ? load : 1),
  }) : null;
  const leftFiles = repairLeftFiles({ folder, left, roomOf: rooms.of, load: () => load, onRepaired: onFinished, clock, log });
  const exports = openExports({ ...deps, shared, continuous, free, rooms, privacy, load: () => load, onFinished });
  const drop = async (id: string): Promise<boolean> => {
    const wasWritten = await recordings.drop(id);
    rooms.finished(id);
    return wasWritten || exports.drop(id) || leftFiles.drop(id);
  };
  const removeOld = () => void rooms.removeOld(clock.now()).catch((error: unknown) => log.error({ reason: describeError(error) }, "old capture files cannot be removed"));
  const behaviour = await openLearning(deps);
  removeOld();
  const stops = [
    clock.every(REPORT_MS, () => reports.tick()), clock.every(FLUSH_MS, () => recordings.flush()), clock.every(UPLOAD_MS, () => uploads.tick()),
    clock.every(AGE_MS, removeOld),
  ];
  const endRehearsal = continuous ? beginRehearsal(deps, continuousPool, () => load) : () => Promise.resolve();

  return {
    ringMemory, behaviour, flowNumbers, open: recordings.open,
    sinks: continuous ? [continuous.sink] : [],
    problem: rooms.problem,
    droppedByProbe: () => recordings.droppedByProbe() + (continuous?.dropped() ?? 0),
    continuous: () => continuous?.state() ?? null,
    command: (message, running) => carryOutCommand(message, {
      ...running, uploads, exports, behaviour,
      files: { folder, forget: rooms.forget, drop },
    }),
    configure(now) {
      site = now;
      recordings.configure();
      exports.configure();
      continuous?.configure();
    },
    noteLoad(now) {
      load = now;
    },
    noted(id, state) {
      const last = reports.noted(id, state);
      if (last) markReported(folder, id).then(() => site.upload === "at_once" && uploads.want(id))
        .catch((error: unknown) => log.error({ pcap_id: id, reason: describeError(error) }, "the note of a capture file cannot be written"));
    },
    async close() {
      for (const stop of stops) stop();
      const rehearsal = endRehearsal();
      await leftFiles.close();
      await exports.close();
      await recordings.close();
      await behaviour.close();
      await rehearsal;
    },
  };
}

/**
 * When there is little to do: it is given up when that is over, for its memory, and begun again later. Where it fails, the first flood loses more frames, and nothing else happens.
 * @param pool The continuous capture's: it has the fewer buffers meanwhile, and the process no more memory.
 * @returns Ends it.
 */
function beginRehearsal({ begin, clock, log }: PartsDeps, pool: BufferPool, load: () => number): () => Promise<void> {
  const folder = join(begin.data_dir, "captures", "rehearsal");
  const calm = createPacedWork({ load, clock });
  // One that does not wait for calm: it would keep its memory meanwhile.
  const work = createPacedWork({ load: () => 0, clock });
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const isCalm = () => load() < BUSY_LOAD;
  const rehearse = async (): Promise<void> => {
    for (let tries = 0; tries < REHEARSALS; tries += 1) {
      await Promise.race([pause(clock, tries === 0 ? REHEARSE_AFTER_MS : REHEARSE_AGAIN_MS), stopped]);
      calm.begin();
      if (!(await calm.pace())) return;
      work.begin();
      if (await rehearseOverload({ folder, pool, clock, pace: async () => isCalm() && await work.pace() && isCalm() })) return;
    }
  };
  const rehearsing = rehearse().catch((error: unknown) => log.warn({ reason: describeError(error) }, "the traffic process cannot rehearse an overload"));
  return () => {
    stop();
    calm.close();
    work.close();
    return rehearsing;
  };
}

/** What devices usually do, by the machine's own networks and those that the configuration names. */
function openLearning({ begin, ownNetworks, send, clock, log }: PartsDeps): Promise<SiteBehaviour> {
  return openBehaviour({
    settings: begin.settings.anomalies, dataDir: begin.data_dir, accepted: begin.anomalies, isInside: createHomeNetworks(begin.home_networks, createOwnNetworks(ownNetworks, clock)), clock, log,
    say: (at, anomaly) => send({ kind: "anomaly", at, anomaly }),
  });
}

/** The system gives it when it is first written to. What the kernel's rings take counts as the ring's, of which at least half is left. */
function openMemory({ ring_megabytes, interfaces }: Begin["settings"], clock: Clock) {
  const bytes = fromMegabytes(ring_megabytes);
  const ringBytes = Math.max(bytes / 2, bytes - interfaces.length * KERNEL_RING_OCTETS);
  const bufferBytes = BUFFERS * BUFFER_BYTES;
  const memory = allocatePages(ringBytes + bufferBytes);
  const pieces = openPieceWriter(clock);
  const pool = createBufferPool({ buffers: BUFFERS, memory: memory.subarray(0, bufferBytes), writer: createFileWriter(pieces) });
  const continuousPool: BufferPool = createBufferShare(pool, CONTINUOUS_BUFFERS, createFileWriter(pieces, {
    isFull: () => continuousPool.free === 0, clock,
  }));
  return { ringMemory: memory.subarray(bufferBytes), pool, continuousPool, spare: createBufferShare(pool, SPARE_BUFFERS) };
}

const NOT_RECORDED = {
  refused: "the probe records nothing continuously: set continuous.enabled = true under [traffic] in its configuration file, and start it again", reason: "not-configured",
} as const;

const NOT_REMOVED = "a capture file that was deleted cannot be removed";

/** Exports, each with the room on the disk that it may need. */
function openExports(deps: PartsDeps & {
  readonly shared: Pick<Parameters<typeof createExports>[0], "dataDir" | "interfaces" | "snapLength" | "application">;
  readonly continuous: Parameters<typeof createExports>[0]["continuous"] | null; readonly free: FreeSpace; readonly rooms: FileRooms;
  readonly privacy: () => CapturePrivacy; readonly load: () => number; readonly onFinished: (facts: CaptureFileFacts) => void;
}) {
  const { continuous, free, begin: { settings } } = deps;
  if (!continuous) {
    return { start: (): Promise<CommandAnswer> => Promise.resolve(NOT_RECORDED), stop: () => false, drop: () => false, configure: () => {}, close: () => Promise.resolve() };
  }
  const room = deps.rooms.of("export");
  const claims = new Map<string, number>();
  const dropped = new Set<string>();
  const settle = (id: string, written: number) => {
    room.settle(claims.get(id) ?? 0, written);
    claims.delete(id);
  };
  const exports = createExports({
    ...deps, ...deps.shared, continuous, floorBytes: fromMegabytes(settings.continuous.free_floor_megabytes),
    onFinished(facts) {
      const { pcap_id: id, size_bytes: bytes } = facts.recorded;
      const isDropped = dropped.delete(id);
      settle(id, isDropped ? 0 : bytes);
      if (!isDropped) deps.onFinished(facts);
      else removeCaptureFile(filesFolder(deps.shared.dataDir), id).catch((error: unknown) => deps.log.error({ pcap_id: id, reason: describeError(error) }, NOT_REMOVED));
    },
  });
  return {
    stop: exports.stop,
    /** Ends it, and leaves nothing of it. */
    drop(id: string): boolean {
      const isRunning = exports.stop(id);
      if (isRunning) dropped.add(id);
      return isRunning;
    },
    configure: exports.configure,
    close: exports.close,
    async start(data: CommandData<"pcap_export">): Promise<CommandAnswer> {
      const there = Math.max(MIN_EXPORT_BYTES, free.free() - EXPORT_MARGIN_BYTES);
      const maxBytes = Math.min(data.bytes, fromMegabytes(settings.on_demand.max_megabytes), fromMegabytes(settings.on_demand.budget_megabytes), there);
      const { pcap_id: id } = data;
      if (claims.has(id)) return { refused: "this export runs already" };
      claims.set(id, 0);
      let isBegun = false;
      try {
        if (await room.claim(maxBytes) !== null) return { refused: "the probe's disk has no room for an export", reason: "not-now" };
        claims.set(id, maxBytes);
        const refusal = await exports.start(data, { maxBytes });
        isBegun = refusal === null;
        return refusal ?? { data: { bytes: maxBytes } };
      } finally {
        if (!isBegun) settle(id, 0);
        if (!isBegun) dropped.delete(id);
      }
    },
  };
}
