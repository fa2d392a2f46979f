import type { FrameView } from "@lanthorn/packet-io";
import { createFilePlaces, type FilePlaces } from "./file-places.ts";
import type { FlowKey } from "./summary/flow-keys.ts";
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
  /** @param key The frame's flow. @param isFirst What `FlowKeyReader.read` said. @param position Of its block in the file. */
  add(frame: FrameView, key: FlowKey, isFirst: boolean, position: number): void;
}

/** As many as a summary keeps. */
const FLOW_PLACES = 2048;

/** Of a file that has nothing yet. @param options.isSummed Whether its summary is read, or only its flows. */
export function createContents({ isSummed = true }: { readonly isSummed?: boolean } = {}): GrowingContents {
  return new Contents(isSummed);
}

/** A class, whose getters are none of its objects' own, and whose times are kept as numbers from the beginning: V8 makes no object for a frame then. */
class Contents implements GrowingContents {
  packets = 0;
  readonly summary: SummaryMaker | null;
  readonly places = createFilePlaces();
  private readonly set: FlowSet | null;
  private first = Number.POSITIVE_INFINITY;
  private last = Number.NEGATIVE_INFINITY;

  constructor(isSummed: boolean) {
    this.summary = isSummed ? createSummaryMaker() : null;
    // Without a summary nothing is counted by flow, which costs more than all else that is noted of a frame.
    this.set = isSummed ? null : createFlowSet({ places: FLOW_PLACES });
  }

  get firstAt(): number | null {
    return this.packets === 0 ? null : this.first;
  }

  get lastAt(): number | null {
    return this.packets === 0 ? null : this.last;
  }

  get flows(): Pick<FlowSet, "forEach" | "isWhole"> {
    return this.summary?.flows ?? (this.set as FlowSet);
  }

  add(frame: FrameView, key: FlowKey, isFirst: boolean, position: number): void {
    const at = frame.seconds * 1000 + frame.nanoseconds / 1e6;
    this.packets += 1;
    if (at < this.first) this.first = at;
    if (at > this.last) this.last = at;
    this.places.add(position, at);
    if (this.summary === null) this.set?.add(key);
    else this.summary.add(frame, key, isFirst);
  }
}
