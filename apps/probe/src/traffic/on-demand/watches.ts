import { type CommandData, MAX_PCAP_WATCH_BYTES, PCAP_WATCH_SECONDS, type PcapWatchReply } from "@lanthorn/contract/uplink";
import { createFrameCursor, type FrameBlock, type FrameView } from "@lanthorn/packet-io";
import { type Clock, toInstant } from "@lanthorn/runtime";
import { type CapturePrivacy, createPrivacyCut } from "../capture-files/privacy.ts";
import type { CommandRefused } from "../messages.ts";
import { millisecondsOf } from "../ring/memory-ring.ts";
import { findInterface } from "./captures.ts";
import type { CompileFilter, FrameProgram } from "./filter-program.ts";

/** Live views: each keeps the last matching frames until somebody fetches them. */
export interface Watches {
  /** Begins a view, or goes on with it. @returns In words why not. */
  look(command: CommandData<"pcap_watch">): CommandRefused | { readonly data: PcapWatchReply };
  onBlock(block: FrameBlock, interfaceId: number): void;
  /** What the site wants left out has changed: what waits to be fetched is not shown any more. */
  configure(): void;
  tick(): void;
  readonly open: number;
}

const MAX_WATCHES = 4;
/** Frames that wait to be fetched, of each view; the oldest gives way. */
const MAX_KEPT = 1000;
/** Their octets. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** Of each view between two ticks, a quarter of a second: copying a flood would take a processor. Others are counted as missed. */
const MAX_COPIES_A_TICK = 500;
const VIEW_OVER = "this live view is over: it was not read for half a minute, or the probe has started again; begin another one";
/** As JSON with its names, a frame takes that much beside its octets. */
const FRAME_OVERHEAD_BYTES = 100;

interface KeptFrame {
  readonly seq: number;
  readonly at: number;
  readonly wireLength: number;
  readonly bytes: Buffer;
}

interface Watch {
  readonly interfaceId: number | null;
  readonly filter: string;
  readonly program: FrameProgram | null;
  readonly snapLength: number;
  kept: KeptFrame[];
  keptBytes: number;
  copies: number;
  lastSeq: number;
  askedAt: number;
}

/**
 * @param deps.interfaces Names of the interfaces that are read, by their numbers.
 * @param deps.privacy What the site wants left out, now: a view shows no more of a frame than a file would hold.
 */
export function createWatches(deps: {
  readonly interfaces: readonly string[];
  readonly snapLength: number;
  readonly compile: CompileFilter;
  readonly privacy: () => CapturePrivacy;
  readonly clock: Pick<Clock, "monotonic">;
}): Watches {
  const { clock } = deps;
  let cut = createPrivacyCut(deps.privacy());
  const cursor = createFrameCursor();
  const watches = new Map<string, Watch>();

  function keep(watch: Watch, frame: FrameView): void {
    watch.lastSeq += 1;
    if (watch.copies >= MAX_COPIES_A_TICK) return;
    watch.copies += 1;
    const end = frame.offset + Math.min(cut.keptLength(frame), watch.snapLength);
    const bytes = Buffer.from(frame.bytes.subarray(frame.offset, end));
    watch.kept.push({ seq: watch.lastSeq, at: millisecondsOf(frame), wireLength: frame.wireLength, bytes });
    watch.keptBytes += bytes.length;
    // In steps, so that a flood does not move the whole list for each frame.
    if (watch.kept.length > 2 * MAX_KEPT || watch.keptBytes > 2 * MAX_KEPT_BYTES) shorten(watch);
  }

  function shorten(watch: Watch): void {
    let from = Math.max(0, watch.kept.length - MAX_KEPT);
    let octets = watch.kept.slice(from).reduce((sum, { bytes }) => sum + bytes.length, 0);
    while (octets > MAX_KEPT_BYTES) octets -= watch.kept[from++]?.bytes.length ?? octets;
    watch.kept = watch.kept.slice(from);
    watch.keptBytes = octets;
  }

  function begin({ filter, interface: name, snap_length: snapLength }: CommandData<"pcap_watch">): Watch | CommandRefused {
    if (watches.size >= MAX_WATCHES) return { refused: `${MAX_WATCHES} live views are already open; close one of them, or wait half a minute`, reason: "not-now" };
    const found = findInterface(name, deps.interfaces);
    if ("refused" in found) return found;
    const compiled = deps.compile(filter, deps.snapLength);
    if ("refused" in compiled) return compiled;
    return { interfaceId: found.id, filter, program: compiled.program, snapLength, kept: [], keptBytes: 0, copies: 0, lastSeq: 0, askedAt: 0 };
  }

  return {
    look(command) {
      const { watch_id: id, after, limit } = command;
      if (limit === 0) {
        watches.delete(id);
        return { data: { frames: [], missed: 0, next: after } };
      }
      // Who has seen frames of it goes on with a view that ended. Beginning it anew is for the collector, which asks for reasons and keeps records.
      if (after > 0 && !watches.has(id)) return { refused: VIEW_OVER };
      const watch = watches.get(id) ?? begin(command);
      if ("refused" in watch) return watch;
      watches.set(id, watch);
      watch.askedAt = clock.monotonic();
      shorten(watch);
      return { data: fetchFrames(watch, after, limit) };
    },
    onBlock(block, interfaceId) {
      for (const watch of watches.values()) {
        if (watch.interfaceId !== null && watch.interfaceId !== interfaceId) continue;
        cursor.start(block);
        while (cursor.next()) if (watch.program === null || watch.program(cursor)) keep(watch, cursor);
      }
    },
    configure() {
      const next = createPrivacyCut(deps.privacy());
      if (next.words === cut.words) return;
      cut = next;
      // They count as not shown.
      for (const watch of watches.values()) [watch.kept, watch.keptBytes] = [[], 0];
    },
    tick() {
      for (const [id, watch] of watches) {
        watch.copies = 0;
        if (clock.monotonic() - watch.askedAt > PCAP_WATCH_SECONDS * 1000) watches.delete(id);
      }
    },
    get open() {
      return watches.size;
    },
  };
}

/** A number that the view has not reached is taken for its last one. */
function fetchFrames(watch: Watch, asked: number, limit: number): PcapWatchReply {
  const after = Math.min(asked, watch.lastSeq);
  const frames: PcapWatchReply["frames"] = [];
  let octets = 0;
  for (const { seq, at, wireLength, bytes } of watch.kept) {
    if (seq <= after) continue;
    octets += bytes.length + FRAME_OVERHEAD_BYTES;
    if (frames.length >= limit || octets > MAX_PCAP_WATCH_BYTES) break;
    frames.push({ seq, at: toInstant(Math.floor(at)), wire_length: wireLength, bytes: bytes.toString("base64") });
  }
  const next = frames.at(-1)?.seq ?? watch.lastSeq;
  // What was not taken yet may be asked for again: a reply can get lost.
  watch.kept = watch.kept.filter(({ seq }) => seq > after);
  watch.keptBytes = watch.kept.reduce((sum, { bytes }) => sum + bytes.length, 0);
  return { frames, missed: Math.max(0, next - after - frames.length), next };
}
