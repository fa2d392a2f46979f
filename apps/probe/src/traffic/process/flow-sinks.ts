import type { TrafficHealth } from "@lanthorn/contract/uplink";
import { createFrameCursor, type FrameBlock } from "@lanthorn/packet-io";
import { type Analyzer, type AnalyzerOptions, createAnalyzer, type FlowRecord, type OpenFlowWatch } from "@lanthorn/traffic";
import type { Clock } from "@lanthorn/runtime";
import type { SiteBehaviour } from "../anomalies/behaviour.ts";
import type { FlowNumbers } from "../ring/flow-numbers.ts";
import type { Sink } from "../sinks.ts";

/** Flows and what is said in them: two sinks, because inspection is left out before the flow table is. */
export interface FlowSinks {
  readonly sinks: readonly [flows: Sink, inspection: Sink];
  state(): FlowState;
  /** The frame that is being analyzed, whole; null between frames. A view: good during the call. */
  frame(): Uint8Array | null;
}

/** Who looks at each packet with its flow, while inspection is not left out. */
export interface PacketWatch {
  /** Null for nobody; asked before each block. */
  watch(): OpenFlowWatch | null;
  /** Frames that it was given, and was not. */
  count(inspected: number, shed: number): void;
}

/** Sums since the process began. */
export type FlowState = NonNullable<TrafficHealth["flows"]>;

/** What 150 MB leave beside a ring of 64 MiB. */
const MAX_FLOWS = 8192;
const INSPECTION = { total: 8 * 1024 * 1024 };
/** Services are named by us, not by who speaks; there are some thirty. */
const MAX_SERVICES = 64;
const MAX_SHOWN = 16;
const MAX_NAME = 32;

/** Flows that end in one turn of the event loop: one or two milliseconds of work, most of it in learning what is usual for their devices. */
const ENDED_AT_ONCE = 64;

/** What is said in flows names their services. @param deps.random From 0 to below 1. @param deps.numbers Are given what is known of each block. @param deps.onMessage Is given it, while inspection is not left out. */
export function createFlowSinks(deps: {
  readonly behaviour: Pick<SiteBehaviour, "onFlow" | "advance" | "seen" | "missed" | "tick">;
  readonly random: () => number; readonly clock: Pick<Clock, "now" | "after">; readonly watch: PacketWatch; readonly numbers: Pick<FlowNumbers, "begin">;
  readonly onMessage: NonNullable<AnalyzerOptions["onMessage"]>;
}): FlowSinks {
  const { clock, behaviour } = deps;
  const services = createServices();
  const frames = createFrameFeed();
  let isInspected = true;
  let cancelTurn: (() => void) | null = null;
  const analyzer = createAnalyzer({
    random: deps.random, flows: { maxFlows: MAX_FLOWS }, inspection: INSPECTION, onMessage: deps.onMessage, endedAtOnce: ENDED_AT_ONCE,
    onFlow(record) {
      services.add(record);
      behaviour.onFlow(record, frames.at());
    },
  });

  function state(): FlowState {
    const { flows: { open, records, evicted }, inspection } = analyzer.counters();
    return {
      open, ended: records, evicted, services: services.read(),
      inspection: { steps: inspection?.steps ?? 0, too_costly: inspection?.tooCostly ?? 0, too_long: inspection?.tooLong ?? 0 },
    };
  }

  /** Thousands of flows may end at once: some of them in each turn. */
  function endSome(): void {
    cancelTurn?.();
    cancelTurn = analyzer.tick(clock.now() * 1000) ? null : clock.after(0, endSome);
  }

  function analyze(block: FrameBlock): void {
    const watch = isInspected ? deps.watch.watch() : null;
    analyzer.look({ isInspected, watch });
    if (watch !== null) deps.watch.count(block.frames, 0);
    frames.feed(block, analyzer, deps.numbers.begin(block));
    behaviour.seen(block.frames);
    behaviour.advance(frames.at());
  }

  const flows: Sink = {
    name: "flows", onBlock: analyze, shed: behaviour.missed, onMissing: (_, frames) => behaviour.missed(frames),
    tick() {
      endSome();
      behaviour.tick();
    },
    async close() {
      cancelTurn?.();
      analyzer.flush();
    },
  };
  const inspection = inspectionSink((isWanted, frames) => {
    isInspected = isWanted;
    if (!isWanted) deps.watch.count(0, frames);
  });
  return {
    sinks: [flows, inspection], state, frame: frames.frame,
  };
}

/** Gives the frames of blocks to an analyzer, one by one. */
function createFrameFeed() {
  const cursor = createFrameCursor();
  let isInFrame = false;
  // A variable would make an object of each time, for V8.
  const last = { microseconds: 0 };
  return {
    /** Packet time, in seconds. */
    at: () => last.microseconds / 1e6,
    frame: () => (isInFrame ? cursor.bytes.subarray(cursor.offset, cursor.offset + cursor.length) : null),
    /** @param numbers Where the numbers of their flows go. */
    feed(block: FrameBlock, analyzer: Analyzer, numbers: Uint32Array): void {
      isInFrame = true;
      cursor.start(block);
      for (let index = 0; cursor.next(); index += 1) {
        const { bytes, offset, length, wireLength, seconds, nanoseconds } = cursor;
        const microseconds = seconds * 1e6 + ((nanoseconds / 1000) | 0);
        last.microseconds = microseconds;
        numbers[index] = analyzer.placedFrame(bytes, offset, length, wireLength, microseconds);
      }
      isInFrame = false;
    },
  };
}

/** It comes behind the flow table, which does its work with it: all that it says is whether. */
function inspectionSink(want: (isWanted: boolean, frames: number) => void): Sink {
  return { name: "inspection", close: () => Promise.resolve(), onBlock: ({ frames }) => want(true, frames), shed: (frames) => want(false, frames) };
}

/** Adds up flows by what is spoken in them. */
function createServices() {
  const services = new Map<string, { flows: number; packets: number; bytes: number }>();
  return {
    add(record: FlowRecord): void {
      const name = (record.service ?? record.protocol).slice(0, MAX_NAME);
      const known = services.get(name) ?? { flows: 0, packets: 0, bytes: 0 };
      if (services.size >= MAX_SERVICES && !services.has(name)) return;
      services.set(name, known);
      known.flows += 1;
      known.packets += record.originator_packets + record.responder_packets;
      known.bytes += record.originator_wire_bytes + record.responder_wire_bytes;
    },
    read: () => [...services].map(([name, sums]) => ({ name, ...sums })).toSorted((one, other) => other.bytes - one.bytes).slice(0, MAX_SHOWN),
  };
}
