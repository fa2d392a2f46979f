import type { FrameView } from "@lanthorn/packet-io";
import { createFilePlaces, type FilePlaces } from "./file-places.ts";
import { createFlowKeyReader, type FlowKeyReader } from "./summary/flow-keys.ts";
import { createFlowSet, type FlowSet } from "./summary/flow-set.ts";
import { createSummaryMaker, type SummaryMaker } from "./summary/summary.ts";

/** What is in a file: counts, times, and its summary. */
export interface FileContents {
  readonly packets: number;
  /** Milliseconds since the epoch, of the earliest and the latest frame; null without one. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  readonly places: Pick<FilePlaces, "encode">;
  readonly flows: Pick<FlowSet, "forEach" | "isWhole">;
  /** Null where it is not wanted. */
  readonly summary: Pick<SummaryMaker, "read"> | null;
}

/** The same, while it grows. */
export interface GrowingContents extends FileContents {
  /** @param position Of its block in the file. @param flow By which the flow table knows the frame's flow; 0, unless given, where it does not. */
  add(frame: FrameView, position: number, flow?: number): void;
}

/** As many as a summary keeps. */
const FLOW_PLACES = 2048;

/** Of a file that has nothing yet. @param options.isSummed Whether its summary is read, or only its flows. @param options.linkType What frames begin with: Ethernet unless given. */
export function createContents({ isSummed = true, linkType }: { readonly isSummed?: boolean; readonly linkType?: number | undefined } = {}): GrowingContents {
  return new Contents(isSummed, linkType);
}

/** A class, whose getters are none of its objects' own, and whose times are kept as numbers from the beginning: V8 makes no object for a frame then. */
class Contents implements GrowingContents {
  packets = 0;
  readonly summary: SummaryMaker | null;
  readonly places = createFilePlaces();
  private readonly set: FlowSet;
  private readonly keys: FlowKeyReader;
  private first = Number.POSITIVE_INFINITY;
  private last = Number.NEGATIVE_INFINITY;

  constructor(isSummed: boolean, linkType: number | undefined) {
    this.summary = isSummed ? createSummaryMaker() : null;
    // Without a summary nothing is counted by flow, which costs more than all else that is noted of a frame.
    this.set = createFlowSet({ places: isSummed ? 0 : FLOW_PLACES });
    this.keys = createFlowKeyReader(linkType);
  }

  get firstAt(): number | null {
    return this.packets === 0 ? null : this.first;
  }

  get lastAt(): number | null {
    return this.packets === 0 ? null : this.last;
  }

  get flows(): Pick<FlowSet, "forEach" | "isWhole"> {
    return this.summary?.flows ?? this.set;
  }

  add(frame: FrameView, position: number, flow = 0): void {
    const at = frame.seconds * 1000 + frame.nanoseconds / 1e6;
    this.packets += 1;
    if (at < this.first) this.first = at;
    if (at > this.last) this.last = at;
    this.places.add(position, at);
    if (this.summary === null && this.set.has(flow)) return;
    const isFirst = this.keys.read(frame);
    if (this.summary === null) this.set.add(this.keys.key, flow);
    else this.summary.add(frame, this.keys.key, isFirst);
  }
}
