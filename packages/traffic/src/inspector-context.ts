import type { InspectionLimits } from "./inspection-limits.ts";
import type { StreamMemory } from "./streams/memory.ts";
import type { StreamContext } from "./streams/tcp-stream.ts";
import type { TrafficMessage } from "./traffic-message.ts";
import type { SpareWork } from "./work-account.ts";

/** What all inspectors share. */
export interface InspectorContext<Flow> {
  readonly limits: InspectionLimits;
  readonly memory: StreamMemory;
  readonly streams: StreamContext;
  readonly spare: SpareWork;
  readonly counts: { messages: number; recognized: number; unrecognized: number; tooLong: number; tooCostly: number; steps: number };
  readonly onMessage: (flow: Flow, message: TrafficMessage) => void;
}
