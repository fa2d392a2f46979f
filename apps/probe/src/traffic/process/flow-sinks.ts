import type { TrafficHealth } from "@lanthorn/contract/uplink";
import { createFrameCursor, type FrameBlock } from "@lanthorn/packet-io";
import { type Analyzer, type AnalyzerOptions, createAnalyzer, type FlowRecord, type OpenFlowWatch } from "@lanthorn/traffic";
import type { Clock } from "@lanthorn/runtime";
import type { SiteBehaviour } from "../anomalies/behaviour.ts";
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

interface Sums extends Pick<FlowState, "ended" | "evicted"> {
  readonly inspection: NonNullable<FlowState["inspection"]>;
}

/** What 150 MB leave beside a ring of 64 MiB. */
const MAX_FLOWS = 8192;
const INSPECTION = { total: 8 * 1024 * 1024 };
/** Services are named by us, not by who speaks; there are some thirty. */
const MAX_SERVICES = 64;
const MAX_SHOWN = 16;
const MAX_NAME = 32;
const NOT_INSPECTED = { steps: 0, tooCostly: 0, tooLong: 0 };

/** Flows that end in one turn of the event loop: a millisecond of work. */
const ENDED_AT_ONCE = 256;

function add(sums: Sums, one: Analyzer): Sums {
  const { flows: { records, evicted }, inspection } = one.counters();
  const { steps, tooCostly, tooLong } = inspection ?? NOT_INSPECTED;
  const { inspection: { steps: stepsBefore, too_costly: tooCostlyBefore, too_long: tooLongBefore } } = sums;
  return {
    ended: sums.ended + records, evicted: sums.evicted + evicted,
    inspection: { steps: stepsBefore + steps, too_costly: tooCostlyBefore + tooCostly, too_long: tooLongBefore + tooLong },
  };
}

/** What is said in flows names their services. @param deps.random From 0 to below 1. @param deps.onMessage Is given it, while inspection is not left out. */
export function createFlowSinks(deps: {
  readonly behaviour: Pick<SiteBehaviour, "onFlow" | "advance" | "seen" | "missed" | "tick">;
  readonly random: () => number; readonly clock: Pick<Clock, "now" | "after">; readonly watch: PacketWatch;
  readonly onMessage: NonNullable<AnalyzerOptions["onMessage"]>;
}): FlowSinks {
  const { clock, behaviour } = deps;
  const services = createServices();
  const frames = createFrameFeed();
  let [isInspected, isInspectionWanted] = [true, true];
  let watch: OpenFlowWatch | null = null;
  let before: Sums = { ended: 0, evicted: 0, inspection: { steps: 0, too_costly: 0, too_long: 0 } };
  let analyzer = open();
  /** The one before, whose flows end by and by. */
  let last: Analyzer | null = null;
  let cancelTurn: (() => void) | null = null;

  function onFlow(record: FlowRecord): void {
    services.add(record);
    behaviour.onFlow(record, frames.at());
  }

  function open(): Analyzer {
    return createAnalyzer({
      random: deps.random, flows: { maxFlows: MAX_FLOWS }, inspection: INSPECTION, onFlow, onMessage: isInspected ? deps.onMessage : null, watch,
      endedAtOnce: ENDED_AT_ONCE,
    });
  }

  const openFlows = (one: Analyzer) => one.counters().flows.open;
  const read = () => {
    const sums = add(before, analyzer);
    return last === null ? { ...sums, open: openFlows(analyzer) } : { ...add(sums, last), open: openFlows(analyzer) + openFlows(last) };
  };

  /** Thousands of flows may end at once: some of them in each turn. */
  function endSome(): void {
    cancelTurn?.();
    cancelTurn = null;
    if (last?.flush(ENDED_AT_ONCE) === true) {
      before = add(before, last);
      last = null;
    }
    const isDone = last === null && analyzer.tick(clock.now() * 1000);
    if (!isDone) cancelTurn = clock.after(0, endSome);
  }

  /** Another analyzer takes over where inspection begins or ends; flows that go on are two records then. */
  function analyze(block: FrameBlock): void {
    const wanted = isInspectionWanted ? deps.watch.watch() : null;
    if ((isInspected !== isInspectionWanted || watch !== wanted) && last === null) {
      last = analyzer;
      isInspected = isInspectionWanted;
      watch = wanted;
      analyzer = open();
      endSome();
    }
    if (watch !== null) deps.watch.count(block.frames, 0);
    frames.feed(block, analyzer);
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
      last?.flush();
      analyzer.flush();
    },
  };
  const inspection = inspectionSink((isWanted, frames) => {
    isInspectionWanted = isWanted;
    if (!isWanted) deps.watch.count(0, frames);
  });
  return {
    sinks: [flows, inspection], state: () => ({ ...read(), services: services.read() }),
    frame: frames.frame,
  };
}

/** Gives the frames of blocks to an analyzer, one by one. */
function createFrameFeed() {
  const cursor = createFrameCursor();
  let [isInFrame, at] = [false, 0];
  return {
    /** Packet time, in seconds. */
    at: () => at,
    frame: () => (isInFrame ? cursor.bytes.subarray(cursor.offset, cursor.offset + cursor.length) : null),
    feed(block: FrameBlock, analyzer: Analyzer): void {
      isInFrame = true;
      cursor.start(block);
      while (cursor.next()) {
        const { bytes, offset, length, wireLength, seconds, nanoseconds } = cursor;
        const microseconds = seconds * 1e6 + Math.floor(nanoseconds / 1000);
        at = microseconds / 1e6;
        analyzer.placedFrame(bytes, offset, length, wireLength, microseconds);
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
