/** What all flows of an engine share. */

import type { StreamContext, StreamMemory } from "@lanthorn/traffic";
import type { Evaluator } from "../inspect/evaluator.ts";
import type { EngineLimits } from "../limits.ts";

/** Counts of the flows' work. */
export interface FlowWork {
  packets: number;
  /** Bytes of streams that were put in order and looked at. */
  streamOctets: number;
  recognized: number;
  transactions: number;
  /** Flows that had to give their memory back for others: nothing more of their streams is looked at. */
  evictions: number;
  /** Bytes of sides that had come to the depth. */
  beyondDepth: number;
}

/** One of an engine. */
export interface FlowContext {
  readonly evaluator: Evaluator;
  readonly limits: EngineLimits;
  readonly memory: StreamMemory;
  readonly streams: StreamContext;
  readonly work: FlowWork;
}
