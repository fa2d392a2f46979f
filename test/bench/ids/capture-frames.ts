/** Frames of capture files, as plain lists: what benches cut, shuffle and join. */
import { createPcapWriter, LINK_TYPE, readCapture } from "@lanthorn/packets";

/** A frame with its time in microseconds since 1970 and the link that it is of. */
export interface CapturedFrame {
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly linkType: number;
}

/** @returns The frames of a pcap or pcapng file, as far as it can be read. */
export function framesOf(file: Uint8Array): readonly CapturedFrame[] {
  return readCapture(file).records.map(({ bytes, seconds, nanoseconds, linkType }) => ({ at: seconds * 1e6 + Math.floor(nanoseconds / 1000), bytes, linkType }));
}

/** A pcap file of frames that are of one link, in the order given. */
export function captureOf(frames: readonly CapturedFrame[]): Uint8Array {
  const writer = createPcapWriter({ linkType: frames[0]?.linkType ?? LINK_TYPE.ethernet, resolution: "microseconds" });
  return Buffer.concat([writer.header(), ...frames.map(({ at, bytes }) => writer.record({ seconds: Math.floor(at / 1e6), nanoseconds: (at % 1e6) * 1000, bytes }))]);
}

/**
 * Lays captures behind each other in time, with a pause in which all flows end. Where nothing comes within a capture for longer than that, it is as
 * long: some hold frames of different decades, and a pcap file's seconds end in 2106.
 * @param pauseSeconds Longer than any engine keeps a quiet flow.
 */
export function joinCaptures(captures: readonly (readonly CapturedFrame[])[], pauseSeconds: number): readonly CapturedFrame[] {
  const joined: CapturedFrame[] = [];
  const pause = pauseSeconds * 1e6;
  let end = 1_700_000_000_000_000;
  for (const frames of captures) {
    let at = end;
    let before = frames[0]?.at ?? 0;
    for (const frame of frames) {
      at += Math.max(-pause, Math.min(frame.at - before, pause));
      before = frame.at;
      joined.push({ ...frame, at });
      end = Math.max(end, at);
    }
    end += pause;
  }
  return joined;
}
