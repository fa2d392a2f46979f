import type { CaptureSettings } from "@lanthorn/contract/uplink";
import type { CommandAnswer, ProcessCounters, ToProcess } from "../messages.ts";
import type { FlowNumbers } from "../ring/flow-numbers.ts";
import type { OpenRecording } from "../recording.ts";
import type { SiteBehaviour } from "../anomalies/behaviour.ts";
import type { Sink } from "../sinks.ts";
import type { CommandReach } from "./commands.ts";

/** What the process has of files, and of sinks behind the first three; and what it learned of the site's devices. */
export interface TrafficParts {
  /** For the frames of the last seconds. The buffers that files are written from lie beside it: within one stretch of memory frames are copied faster. */
  readonly ringMemory: Buffer;
  readonly open: OpenRecording;
  /** Flows, inspection, continuous capture: in this order. */
  readonly sinks: readonly Sink[];
  readonly behaviour: SiteBehaviour;
  /** Filled by the flow table, read by the sinks behind it. */
  readonly flowNumbers: FlowNumbers;
  /** Why nothing can be written; null while it can. */
  problem(): string | null;
  /** Frames that were lost because the disk was too slow. */
  droppedByProbe(): number;
  continuous(): ProcessCounters["continuous"];
  /** Carries out a command of the collector. */
  command(message: Extract<ToProcess, { kind: "command" }>, running: Pick<CommandReach, "captures" | "watches" | "handedOn">): Promise<CommandAnswer>;
  configure(site: CaptureSettings): void;
  /** How much there is to do, 0 to 1: what can wait waits. */
  noteLoad(load: number): void;
  /** The daemon's queue has what was recorded about a file. */
  noted(id: string, state: string): void;
  close(): Promise<void>;
}
