import type { EncapsulationKind } from "@lanthorn/packets";
import type { FlowInspector } from "../flow-inspector.ts";
import type { FlowWatch } from "../watch/packet-watch.ts";
import { FlowSide } from "./flow-side.ts";
import type { FlowKey } from "./flow-key.ts";

/** Why a record was written. */
export type FlowEnding = "closed" | "idle" | "active" | "reused" | "evicted" | "end";

const NO_KINDS: readonly EncapsulationKind[] = [];
const NO_PARENTS: readonly string[] = [];

/** A flow while it lasts. One object serves many flows, one after the other. What each packet needs stands first: that is two lines of the processor's cache, and not four. */
export class Flow {
  readonly originator = new FlowSide();
  readonly responder = new FlowSide();
  /** In the table. */
  entry = 0;
  number = 0;
  protocol = 0;
  isTcp = false;
  /** Whether the originator is the lower of the two ends in the key. */
  isLowOriginator = true;
  /** Microseconds since the epoch; of the record that is open. */
  startedAt = 0;
  lastAt = 0;
  watch: FlowWatch | null = null;
  inspector: FlowInspector | null = null;
  /** The inspector has been dropped: no other is opened. */
  isInspected = false;
  /** Packets went by that nobody looked into: an inspector begins in the middle. */
  isPassedOver = false;
  /** Which of the table's watches one after the other `watch` is of. */
  watchNumber = 0;
  originatorPort = 0;
  responderPort = 0;
  icmpId = -1;
  /** How many records of this flow were written. */
  part = 0;
  history = "";
  encapsulations: readonly EncapsulationKind[] = NO_KINDS;
  tunnelParents: readonly string[] = NO_PARENTS;
  /** A TCP flow of which no SYN of the originator was seen, nor the answer to it. */
  isMidstream = false;
  /** Made when somebody asks. */
  key: FlowKey | null = null;
  /** What the inspector said before it was dropped. */
  service = "";
  /** SYNs that came before the first payload, for the inspector: sequence and acknowledgment of each end. */
  synSequence = 0;
  synAckSequence = 0;
  synAckAcknowledgment = 0;

  /** Ready for another flow. */
  reset(): void {
    this.originator.reset();
    this.responder.reset();
    this.part = 0;
    this.history = "";
    this.encapsulations = NO_KINDS;
    this.tunnelParents = NO_PARENTS;
    this.isMidstream = false;
    this.key = null;
    this.inspector = null;
    this.watch = null;
    this.service = "";
    this.isInspected = false;
    this.isPassedOver = false;
    this.icmpId = -1;
  }
}
