import type { FrameView } from "@lanthorn/packet-io";

/** What became of a frame: it is in the file; all buffers wait for the disk; or the file takes no more. */
export type Added = "added" | "busy" | "full";

/** A capture file that is being written, and of which the collector is informed. */
export interface Recording {
  readonly id: string;
  /** Never waits, and never throws. @param comment Is written with the frame. */
  add(frame: FrameView, interfaceId: number, comment?: string): Added;
  /** Frames that should be in the file and are not. Said in the file. @param by Who dropped them; what this process did without counts as received. */
  missing(interfaceId: number, frames: number, why: string, by: "kernel" | "probe"): void;
  /** Frames that the file is not about. */
  leftOut(interfaceId: number, frames: number): void;
  /** Frames in it. */
  readonly packets: number;
  readonly bytes: number;
  /** Whom and which alerts it is about, as far as is known now. */
  describe(about: RecordingAbout): void;
  /** Ends it; it is whole, reported and handed over then. Does not reject. @param detail Why it ended, where that is worth saying. */
  finish(detail: string): Promise<void>;
  /** Ends it, and leaves nothing of it. */
  abandon(): Promise<void>;
}

/** Whom and what a file is about. */
export interface RecordingAbout {
  readonly alertIds: readonly string[];
  readonly macs: readonly string[];
  readonly ips: readonly string[];
}

/** What a recording is to be. */
export interface RecordingOptions {
  readonly id: string;
  readonly trigger: "alert" | "request";
  /** Only of this interface; null for all. */
  readonly interfaceId: number | null;
  /** pcap-filter(7), or what is kept in words; "" for everything. */
  readonly filter: string;
  readonly snapLength: number;
  readonly headersOnly: boolean;
  readonly maxBytes: number;
  readonly about: RecordingAbout;
  /** Of the whole file. */
  readonly comment: string;
}

/** Opens one. @returns In words why there is no room for it. */
export type OpenRecording = (options: RecordingOptions) => Recording | { readonly refused: string };
