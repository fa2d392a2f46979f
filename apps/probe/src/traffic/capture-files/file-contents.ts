import type { FrameView } from "@lanthorn/packet-io";
import { createFilePlaces, type FilePlaces } from "./file-places.ts";
import type { FlowKey } from "./summary/flow-keys.ts";
import { createSummaryMaker, type SummaryMaker } from "./summary/summary.ts";

/** What is in a file: counts, times, and its summary. */
export interface FileContents {
  readonly packets: number;
  /** Milliseconds since the epoch, of the earliest and the latest frame; null without one. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  readonly places: Pick<FilePlaces, "encode">;
  readonly summary: Pick<SummaryMaker, "read" | "forEachFlow" | "evictedFlows">;
}

/** The same, while it grows. */
export interface GrowingContents extends FileContents {
  /** @param key The frame's flow. @param isFirst What `FlowKeyReader.read` said. @param position Of its block in the file. */
  add(frame: FrameView, key: FlowKey, isFirst: boolean, position: number): void;
}

/** Of a file that has nothing yet. @param options.isSummed Whether its summary is read, or only its flows. */
export function createContents({ isSummed = true }: { readonly isSummed?: boolean } = {}): GrowingContents {
  const summary = createSummaryMaker({ hasTimeLine: isSummed });
  const places = createFilePlaces();
  const contents = {
    summary, places, packets: 0, firstAt: null as number | null, lastAt: null as number | null,
    add(frame: FrameView, key: FlowKey, isFirst: boolean, position: number) {
      const at = frame.seconds * 1000 + frame.nanoseconds / 1e6;
      contents.packets += 1;
      if (contents.firstAt === null || at < contents.firstAt) contents.firstAt = at;
      if (contents.lastAt === null || at > contents.lastAt) contents.lastAt = at;
      places.add(position, at);
      summary.add(frame, key, isFirst);
    },
  };
  return contents;
}
