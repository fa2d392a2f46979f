import { mkdir, open } from "node:fs/promises";
import { createBpfFilter, decodeUtf8 } from "@lanthorn/packets";
import { type Clock, nextTurn } from "@lanthorn/runtime";
import { createBufferPool } from "../capture-files/buffer-pool.ts";
import { type CaptureFile, openCaptureFile } from "../capture-files/capture-file.ts";
import { createDiskRoom, createFreeSpace } from "../capture-files/disk-room.ts";
import { type CaptureFileFacts, inParts } from "../capture-files/facts.ts";
import type { FilePart } from "../capture-files/file-places.ts";
import type { FrameView } from "@lanthorn/packet-io";
import { readOwnFile, type StoredFrame } from "../capture-files/own-file-reader.ts";
import type { ExportRequest } from "./export-messages.ts";
import { createFrameMatch, type FrameMatch } from "./match-frame.ts";

/** What is to be known of the ring while it is read. */
export interface CutDeps {
  /** Asks for a file. @returns False where it is gone. */
  want(id: string): Promise<boolean>;
  /** It has been read. */
  done(id: string): void;
  /** Waits while the capture has much to do. @returns False when the export is to end with what it has. */
  pace(): Promise<boolean>;
  /** The file that is written. */
  onFile(file: Pick<CaptureFile, "narrow">): void;
  readonly clock: Pick<Clock, "now">;
}

/** What a chunk of a file is cut to fits into so many. */
const BUFFERS = 8;
/** Before the next chunk is read, no more wait to be written. */
const MAX_WAITING = 3;
/** The traffic process writes meanwhile, and knows nothing of what is claimed here. */
const EXTRA_FLOOR_BYTES = 4 * 1024 * 1024;
/** What an interface is called of which the present settings know nothing. */
const OTHER_INTERFACE = "earlier";

/** Cuts what is asked for from the files of the ring, one after the other, into a capture file. Does not reject. */
export async function cutFrames(request: ExportRequest, deps: CutDeps): Promise<CaptureFileFacts> {
  const names = [...request.interfaces, OTHER_INTERFACE];
  const counts = names.map(() => ({ received: 0, droppedByInterface: 0, droppedByKernel: 0, droppedByProbe: 0, leftOut: 0 }));
  const pool = createBufferPool({ buffers: BUFFERS });
  // Its free space is asked for before the first file is opened.
  await mkdir(request.folder, { recursive: true, mode: 0o700 }).catch(() => {});
  const file = openFile(request, { names, pool, clock: deps.clock });
  deps.onFile(file);
  const isIn = createTimeTest(request);
  const isMeant = createTest(request, isIn);
  /** Comments of frames that are left out: they say what is missing. */
  const pending = names.map(() => "");
  let isFull = false;
  let isStopped = false;
  const goesOn = async () => {
    isStopped ||= !(await deps.pace());
    return !isStopped;
  };

  function take(frame: StoredFrame, interfaceId: number): void {
    const count = counts[interfaceId];
    if (isFull || count === undefined) return;
    count.received += 1;
    const comment = frame.commentLength === 0 ? "" : decodeUtf8(frame.bytes.subarray(frame.commentOffset, frame.commentOffset + frame.commentLength));
    if (!isMeant(frame)) {
      count.leftOut += 1;
      if (comment !== "" && isIn(frame)) pending[interfaceId] = joinComments(pending[interfaceId] ?? "", comment);
      return;
    }
    const words = joinComments(pending[interfaceId] ?? "", comment);
    pending[interfaceId] = "";
    const added = file.add(frame, interfaceId, words === "" ? undefined : words);
    if (added === "busy") file.missing(interfaceId, 1, "they could not be written in time");
    if (added === "busy") count.droppedByProbe += 1;
    if (added !== "full") return;
    isFull = true;
  }

  for (const { id, paths, part } of request.files) {
    if (isFull || !(await goesOn())) break;
    if (await deps.want(id)) {
      await readFile(paths, { take, names, counts, part, async pace() {
        await nextTurn();
        while (pool.inUse > MAX_WAITING) await file.ready();
        return !isFull && await goesOn();
      } }).catch(() => file.missing(0, 0, `${id} could not be read`));
      deps.done(id);
    } else {
      file.missing(0, 0, "a file was recorded over before it was read");
    }
  }
  for (const [interfaceId, said] of pending.entries()) if (said !== "" && !isFull) file.missing(interfaceId, 0, said);
  return file.finish(counts, isStopped ? STOPPED : isFull ? FULL : "");
}

/** Of what is said of frames that are left out, in characters. */
const MAX_PENDING = 600;
const AND_MORE = "; and more";

function joinComments(before: string, comment: string): string {
  if (before === "" || comment === "") return before + comment;
  if (before.length + comment.length <= MAX_PENDING) return `${before}; ${comment}`;
  return before.endsWith(AND_MORE) ? before : before + AND_MORE;
}

const STOPPED = "It was stopped before all was read that was asked for.";
const FULL = "There was more than was asked for, is allowed, or has room on the disk: frames are missing at its end.";

function openFile(request: ExportRequest, { names, pool, clock }: {
  readonly names: readonly string[]; readonly pool: ReturnType<typeof createBufferPool>; readonly clock: Pick<Clock, "now">;
}): CaptureFile {
  const free = createFreeSpace({ path: request.folder, floorBytes: request.floor_bytes });
  const hosts = [request.host, request.peer].filter((text) => text !== null);
  return openCaptureFile({
    room: createDiskRoom({ free, budgetBytes: request.max_bytes, extraFloorBytes: EXTRA_FLOOR_BYTES }), pool, folder: request.folder, id: request.pcap_id,
    interfaces: names.map((name) => ({ name, snapLength: request.snap_length })), filter: wordsOf(request),
    comment: `Cut from what was recorded continuously, from ${new Date(request.from).toISOString()} to ${new Date(request.to).toISOString()}.`,
    maxBytes: request.max_bytes, privacy: { headersOnly: request.headers_only, headersOnlyNetworks: request.headers_only_networks },
    about: {
      trigger: "export", alert_ids: [], macs: hosts.filter((text) => isMac(text)).map((text) => text.toLowerCase()), ips: hosts.filter((text) => !isMac(text)),
    },
    application: request.application, clock,
  });
}

const isMac = (text: string) => /^[\da-f]{2}(?::[\da-f]{2}){5}$/i.test(text);

/** As pcap-filter(7) would have it. */
function wordsOf({ host, peer, side, filter }: ExportRequest): string {
  const of = (direction: string, text: string) => `${isMac(text) ? "ether " : ""}${direction}host ${text}`;
  const [hostWay, peerWay] = side === "source" ? ["src ", "dst "] : side === "destination" ? ["dst ", "src "] : ["", ""];
  const ends = host === null ? [] : [of(hostWay, host), ...(peer === null ? [] : [of(peerWay, peer)])];
  return [...ends, ...(filter === "" ? [] : [ends.length > 0 ? `(${filter})` : filter])].join(" and ");
}

/** Milliseconds since 1970 with nanoseconds are more than a double holds. */
function createTimeTest(request: Pick<ExportRequest, "from" | "to">): FrameMatch {
  const [from, to] = [inParts(request.from), inParts(request.to)];
  return ({ seconds, nanoseconds }: FrameView) => (seconds > from.seconds || (seconds === from.seconds && nanoseconds >= from.nanoseconds))
    && (seconds < to.seconds || (seconds === to.seconds && nanoseconds <= to.nanoseconds));
}

function createTest(request: ExportRequest, isIn: FrameMatch): FrameMatch {
  const match = createFrameMatch(request);
  const run = request.program === null ? null : createBpfFilter(request.program);
  return (frame) => isIn(frame)
    && (run === null || run(frame.bytes, frame.offset, frame.length, frame.wireLength) !== 0) && (match === null || match(frame));
}

async function readFile(paths: readonly string[], deps: {
  readonly take: (frame: StoredFrame, interfaceId: number) => void; readonly pace: () => Promise<boolean>; readonly names: readonly string[];
  readonly counts: readonly { droppedByKernel: number }[]; readonly part: FilePart | null;
}): Promise<void> {
  const file = await openFirst(paths);
  try {
    const ids: number[] = [];
    const read = await readOwnFile(file, {
      part: deps.part,
      onPacket: (frame) => deps.take(frame, ids[frame.interfaceId] ?? deps.names.length - 1),
      onInterface(name) {
        const id = deps.names.indexOf(name);
        ids.push(id < 0 ? deps.names.length - 1 : id);
      },
      afterChunk: deps.pace,
    });
    const [first] = deps.counts;
    if (first) first.droppedByKernel += read.droppedByKernel;
  } finally {
    await file.close();
  }
}

/** A file may get its name between two tries. */
async function openFirst(paths: readonly string[]) {
  const [first = "", second = ""] = paths;
  return open(first, "r").catch(() => open(second, "r")).catch(() => open(first, "r"));
}
