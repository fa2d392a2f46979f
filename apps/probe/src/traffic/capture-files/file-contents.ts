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

/** Of a file that has nothing yet. */
export function createContents(): GrowingContents {
  const summary = createSummaryMaker();
  const places = createFilePlaces();
  let packets = 0;
  let firstAt = Number.POSITIVE_INFINITY;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    summary, places,
    add(frame, key, isFirst, position) {
      const at = frame.seconds * 1000 + frame.nanoseconds / 1e6;
      packets += 1;
      if (at < firstAt) firstAt = at;
      if (at > lastAt) lastAt = at;
      places.add(position, at);
      summary.add(frame, key, isFirst);
    },
    get packets() {
      return packets;
    },
    get firstAt() {
      return packets === 0 ? null : firstAt;
    },
    get lastAt() {
      return packets === 0 ? null : lastAt;
    },
  };
}
