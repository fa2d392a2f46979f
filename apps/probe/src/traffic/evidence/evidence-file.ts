import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { AlertNotice, Gap } from "../messages.ts";
import type { Added, OpenRecording, Recording } from "../recording.ts";
import type { FrameHeaders, HeaderView } from "../ring/frame-headers.ts";
import type { MemoryRing, RingBlock } from "../ring/memory-ring.ts";
import type { EvidenceSettings } from "../settings.ts";
import { type AlertPart, createSelection, type Selection } from "./selection.ts";

/** What evidence needs. */
export interface EvidenceDeps {
  readonly ring: Pick<MemoryRing, "blocksFrom" | "blockAt" | "lastSequence" | "evictedUntil">;
  readonly headers: FrameHeaders;
  readonly settings: EvidenceSettings;
  readonly snapLength: number;
  /** Whether the site wants files about alerts. */
  readonly isWanted: () => boolean;
  readonly open: OpenRecording;
  readonly clock: Pick<Clock, "now" | "monotonic" | "after">;
  readonly log: Pick<Log, "info" | "warn">;
}

/** A file about one alert, or about several of the same device that overlap. */
export interface EvidenceFile {
  /** Whether the alert is one of its own, or of a device that it is about. */
  isAbout(alert: AlertNotice): boolean;
  /** Takes another alert, or one of its own that was seen again. @returns False where it takes no more. */
  join(part: AlertPart): boolean;
  /**
   * Writes what is old enough by now.
   * @param now Milliseconds since the epoch.
   * @param isSpent Whether the turn is over; asked after each block.
   * @returns `behind` where there is more to write now, `busy` where that waits for the disk.
   */
  advance(now: number, isSpent: () => boolean): "done" | "behind" | "busy";
  /** A block leaves the ring now. @param isSpent Whether the time for it is over; asked at first and after some frames: the rest is said to be missing. */
  onEvict(block: RingBlock, isSpent: () => boolean): void;
  missing(interfaceId: number, frames: number, why: string): void;
  /** Writes all that is there: nothing more will come. */
  flush(): void;
  isOver(now: number): boolean;
  finish(): Promise<void>;
}

/** So long a frame stays in the ring before it is written: an alert that comes by then finds its frame not yet written, and can mark it. */
const LAG_MS = 3000;
/** Of one frame. */
const MAX_COMMENT = 1000;
/** Frames between two looks at the clock. */
const FRAMES_A_LOOK = 64;
const never = () => false;

/** @param deps.gaps Times of which the ring has nothing. */
export function openEvidenceFile(
  first: AlertPart, deps: Pick<EvidenceDeps, "ring" | "headers" | "settings" | "snapLength" | "open"> & {
    readonly id: string; readonly maxBytes: number; readonly gaps: readonly Gap[];
  },
): EvidenceFile | { readonly refused: string } {
  const { ring } = deps;
  const selection = createSelection(first, deps.settings);
  const recording = deps.open({
    id: deps.id, trigger: "alert", interfaceId: null, filter: "", snapLength: deps.snapLength, headersOnly: false, maxBytes: deps.maxBytes,
    about: selection.about(), comment: `lanthorn alert ${first.alert.alert_id} (${first.alert.kind}): frames of its device, and everything around the frame that raised it`,
  });
  if ("refused" in recording) return recording;
  const reader = createRingReader({ ...deps, selection, recording, remark: whatIsMissing(selection.startMs, ring.evictedUntil(), deps.gaps) });
  let isBehind = false;

  function add(part: AlertPart): void {
    const { next } = reader;
    reader.say(selection.add(part, { ...next, at: ring.blockAt(next.sequence)?.firstMs ?? part.now }));
    (recording as Recording).describe(selection.about());
  }

  add(first);
  return {
    isAbout: selection.isAbout,
    join(part) {
      if (reader.isFull || !selection.mayJoin(part)) return false;
      add(part);
      return true;
    },
    advance(now, isSpent) {
      const how = reader.advance(now - LAG_MS, false, isSpent);
      isBehind = how !== "done";
      return how;
    },
    onEvict: reader.onEvict,
    missing(interfaceId, frames, why) {
      if (frames > 0) recording.missing(interfaceId, frames, why, "kernel");
      else reader.say(`missing here: ${why}. `);
    },
    flush: () => void reader.advance(Number.POSITIVE_INFINITY, true, never),
    isOver: (now) => reader.isFull || (!isBehind && now - LAG_MS > selection.endMs()),
    finish: () => recording.finish(`${reader.isFull ? "It reached the largest size of a file, or there was no more room on the disk. " : ""}${reader.unsaid}`.trim()),
  };
}

/** Reads the ring for one file, block by block. */
function createRingReader({ ring, headers, selection, recording, ...deps }: Pick<EvidenceDeps, "ring" | "headers"> & {
  readonly selection: Selection; readonly recording: Recording; readonly remark: string;
}) {
  let next = { sequence: ring.blocksFrom(selection.startMs)[0]?.sequence ?? 0, index: 0 };
  let { remark } = deps;
  let isFull = false;

  /** Frames of a block that were not yet looked at. */
  const unwritten = (block: RingBlock) => block.frames - (block.sequence === next.sequence ? next.index : 0);
  const skip = (block: RingBlock) => {
    next = { sequence: block.sequence + 1, index: 0 };
    return true;
  };

  /** @param mustNotWait What the disk has no time for is lost then. @returns Whether the block is done. */
  function write(block: RingBlock, mustNotWait: boolean, isSpent: () => boolean): boolean {
    if (!selection.mayWant(block)) {
      recording.leftOut(block.interfaceId, unwritten(block));
      return skip(block);
    }
    const written = writeBlock(block, {
      recording, headers, first: block.sequence === next.sequence ? next.index : 0, mustNotWait, isSpent,
      commentOf: (frame) => selection.commentOf(block.sequence, frame),
      takeRemark() {
        const said = remark;
        remark = "";
        return said;
      },
    });
    isFull = written.isFull;
    remark += written.unsaid;
    if (written.stoppedAt === null) return skip(block);
    next = { sequence: block.sequence, index: written.stoppedAt };
    return false;
  }

  return {
    get next() {
      return next;
    },
    get isFull() {
      return isFull;
    },
    /** Remarks that no frame has yet taken. */
    get unsaid() {
      return remark;
    },
    say(text: string) {
      remark += text;
    },
    advance(untilMs: number, mustNotWait: boolean, isSpent: () => boolean): ReturnType<EvidenceFile["advance"]> {
      while (!isFull) {
        const block = ring.blockAt(next.sequence);
        if (!block || block.sequence < next.sequence || block.lastMs > untilMs) return "done";
        if (!write(block, mustNotWait, isSpent)) return isFull ? "done" : isSpent() ? "behind" : "busy";
        if (isSpent()) return "behind";
      }
      return "done";
    },
    onEvict(block: RingBlock, isSpent: () => boolean): void {
      if (block.sequence < next.sequence || isFull) return;
      const hasTime = !selection.mayWant(block) || !isSpent();
      if (hasTime && (write(block, true, isSpent) || isFull)) return;
      recording.missing(block.interfaceId, unwritten(block), "they left the memory ring before there was time to look at them", "probe");
      skip(block);
    },
  };
}

/** @returns Where it stopped because the file took no more, the disk was busy or the turn was over; null where the block is done. */
function writeBlock(block: RingBlock, { recording, headers, first, mustNotWait, isSpent, commentOf, takeRemark }: {
  readonly recording: Recording; readonly headers: FrameHeaders; readonly first: number; readonly mustNotWait: boolean; readonly isSpent: () => boolean;
  /** Null for a frame that is not wanted. */
  readonly commentOf: (frame: HeaderView) => string | null;
  readonly takeRemark: () => string;
}): { readonly stoppedAt: number | null; readonly isFull: boolean; readonly unsaid: string } {
  let leftOut = 0;
  let lost = 0;
  let looked = 0;
  let stoppedBy: Added | "spent" | null = null;
  let remark = "";
  const stoppedAt = headers.visit(block, first, (frame) => {
    looked += 1;
    if (looked > FRAMES_A_LOOK && isSpent()) {
      stoppedBy = "spent";
      return false;
    }
    if (looked > FRAMES_A_LOOK) looked = 0;
    const mark = commentOf(frame);
    if (mark === null) {
      leftOut += 1;
      return true;
    }
    remark += takeRemark();
    const [comment, rest] = splitComment([mark, remark].filter((text) => text !== "").join("; ").trim());
    const added = recording.add(frame, block.interfaceId, comment === "" ? undefined : comment);
    if (added === "added") remark = rest;
    else if (added === "busy" && mustNotWait) lost += 1;
    else stoppedBy = added;
    return stoppedBy === null;
  });
  if (leftOut > 0) recording.leftOut(block.interfaceId, leftOut);
  if (lost > 0) recording.missing(block.interfaceId, lost, "the disk was too slow", "probe");
  return { stoppedAt: stoppedBy === null ? null : stoppedAt, isFull: stoppedBy === "full", unsaid: remark };
}

/** What does not fit into one frame's comment is for the next one: from a sentence on, where there is one. */
function splitComment(text: string): readonly [comment: string, rest: string] {
  if (text.length <= MAX_COMMENT) return [text, ""];
  const end = text.lastIndexOf(". ", MAX_COMMENT - 1) + 1 || MAX_COMMENT;
  return [text.slice(0, end), text.slice(end).trimStart()];
}

/** In words; empty where nothing is missing. */
function whatIsMissing(fromMs: number, evictedUntil: number | null, gaps: readonly Gap[]): string {
  const evicted = evictedUntil !== null && evictedUntil > fromMs ? [`frames before ${toInstant(Math.floor(evictedUntil))} had left the memory ring`] : [];
  const missed = gaps.filter(({ to }) => to >= fromMs)
    .map(({ from, to, reason }) => `from ${toInstant(Math.floor(from))} to ${toInstant(Math.ceil(to))}: ${reason}`);
  return [...evicted, ...missed].map((text) => `missing here: ${text}. `).join("");
}
