/** Looks into the payload of flows: puts TCP in order, finds out the protocol, and lets its parser read. */
import type { FlowInspector } from "./flow-inspector.ts";
import { INSPECTION_LIMITS, type InspectionLimits } from "./inspection-limits.ts";
import type { InspectorContext } from "./inspector-context.ts";
import { PayloadInspector } from "./payload-inspector.ts";
import { createStreamMemory } from "./streams/memory.ts";
import { createStreamCounters, type StreamCounters } from "./streams/tcp-stream.ts";
import type { TrafficMessage } from "./traffic-message.ts";
import { createSpareWork } from "./work-account.ts";

/** What the inspection has seen, over all flows. */
export interface InspectionCounters extends Readonly<StreamCounters> {
  readonly messages: number;
  /** Flows whose protocol was found. */
  readonly recognized: number;
  /** Flows that were given up unrecognized. */
  readonly unrecognized: number;
  /** Sides that were given up for a message longer than the limit. */
  readonly tooLong: number;
  /** Sides that were given up for too many messages, lines or records in too few bytes, and connections of QUIC of which there were too many at once. */
  readonly tooCostly: number;
  /** Calls of parsers of streams. */
  readonly steps: number;
  /** Flows that had to give back their memory for others. */
  readonly evictions: number;
  /** Bytes that are held now. */
  readonly heldBytes: number;
}

/** Makes inspectors that share their memory. */
export interface Inspection<Flow> {
  /** @param flow Comes back with each message. */
  open(flow: Flow): FlowInspector;
  counters(): InspectionCounters;
}

/** @returns The inspection of many flows. */
export function createInspection<Flow>(options: {
  readonly limits?: Partial<InspectionLimits>;
  /** Called for each message, in the order of each flow. Views in it are good during the call only. */
  readonly onMessage: (flow: Flow, message: TrafficMessage) => void;
}): Inspection<Flow> {
  const limits = { ...INSPECTION_LIMITS, ...options.limits };
  const memory = createStreamMemory(limits.total);
  const streams = createStreamCounters();
  const { onMessage } = options;
  const context: InspectorContext<Flow> = {
    limits, memory, onMessage, spare: createSpareWork(limits.spareWork), streams: { counters: streams, maxHeldBytes: limits.heldPerStream },
    counts: { messages: 0, recognized: 0, unrecognized: 0, tooLong: 0, tooCostly: 0, steps: 0 },
  };
  return {
    open: (flow) => new PayloadInspector(context, flow),
    counters: () => ({ ...streams, ...context.counts, evictions: memory.evictions, heldBytes: memory.usedBytes }),
  };
}
