import type { FrameView } from "@lanthorn/packet-io";
import type { Added, OpenRecording, RecordingAbout, RecordingOptions } from "../recording.ts";
import { millisecondsOf } from "../ring/memory-ring.ts";

/** A recording in memory. */
export interface KeptRecording {
  readonly options: RecordingOptions;
  readonly frames: { readonly at: number; readonly bytes: Buffer; readonly comment: string | undefined; readonly interfaceId: number }[];
  readonly missing: { readonly frames: number; readonly why: string }[];
  about: RecordingAbout;
  leftOut: number;
  detail: string | null;
}

/** Keeps recordings in memory. @param answer What the disk says to each frame; it takes all unless given. */
export function createKeptRecordings(answer: (recording: KeptRecording) => Added = () => "added") {
  const kept: KeptRecording[] = [];
  const open: OpenRecording = (options) => {
    const recording: KeptRecording = { options, frames: [], missing: [], about: options.about, leftOut: 0, detail: null };
    kept.push(recording);
    return {
      id: options.id,
      add(frame: FrameView, interfaceId: number, comment?: string) {
        const added = answer(recording);
        const bytes = Buffer.from(frame.bytes.subarray(frame.offset, frame.offset + frame.length));
        if (added === "added") recording.frames.push({ at: millisecondsOf(frame), bytes, comment, interfaceId });
        return added;
      },
      missing: (_interfaceId, frames, why) => void recording.missing.push({ frames, why }),
      leftOut(_interfaceId, frames) {
        recording.leftOut += frames;
      },
      get packets() {
        return recording.frames.length;
      },
      get bytes() {
        return recording.frames.reduce((sum, { bytes }) => sum + bytes.length, 0);
      },
      describe(about) {
        recording.about = about;
      },
      finish(detail) {
        recording.detail = detail;
        return Promise.resolve();
      },
      abandon: () => Promise.resolve(),
    };
  };
  return { kept, open };
}
