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
  const summary = isSummed ? createSummaryMaker() : null;
  // Without a summary nothing is counted by flow, which costs more than all else that is noted of a frame.
  const set = summary ? null : createFlowSet({ places: FLOW_PLACES });
  const places = createFilePlaces();
  const contents = {
    summary, places, flows: summary?.flows ?? (set as FlowSet), packets: 0, firstAt: null as number | null, lastAt: null as number | null,
    add(frame: FrameView, key: FlowKey, isFirst: boolean, position: number) {
      const at = frame.seconds * 1000 + frame.nanoseconds / 1e6;
      contents.packets += 1;
      if (contents.firstAt === null || at < contents.firstAt) contents.firstAt = at;
      if (contents.lastAt === null || at > contents.lastAt) contents.lastAt = at;
      places.add(position, at);
      if (summary) summary.add(frame, key, isFirst);
      else set?.add(key);
    },
  };
  return contents;
}
