import { ipv4Number } from "@lanthorn/packets";
import type { HostTarget } from "../probing/frames/packet.ts";
import type { NeighborRange } from "./neighbor-places.ts";

/**
 * ARP answers that a search hears by its own ring while it runs. The capture leaves them out: to decode each a second time, and to enter
 * its host at once, would take more of the processor than the search. Who watches the link hears of them from the search instead.
 */
export interface AnswerClaims {
  /** A search of these addresses begins. @returns Ends the claim. */
  claim(ranges: readonly Pick<NeighborRange, "first" | "count">[]): () => void;
  /** A host has answered that search; the bytes are the receiver's own. */
  heard(host: HostTarget): void;
}

/** The claims of all searches that run, for the capture. */
export interface CapturedClaims extends Pick<AnswerClaims, "claim"> {
  /** Whether the frame is an ARP answer to one machine from a claimed address. @param bytes Hold the frame from their start. */
  isClaimed(bytes: Uint8Array, length: number): boolean;
}

const MIN_ARP_LENGTH = 42;
const ARP_REPLY = 2;

/**
 * @param isNeeded Whether somebody who watches the link must hear an answer all the same, as one that contradicts what is known. It is called
 * for each answer of a search, with the frame from its start, and keeps nothing of it.
 * @see RFC 826
 */
export function createCapturedClaims(isNeeded: (bytes: Uint8Array) => boolean = () => false): CapturedClaims {
  const claimed = new Set<{ readonly first: number; readonly count: number }>();
  return {
    claim(ranges) {
      const own = ranges.map(({ first, count }) => ({ first, count }));
      for (const range of own) claimed.add(range);
      return () => {
        for (const range of own) claimed.delete(range);
      };
    },
    isClaimed(bytes, length) {
      if (claimed.size === 0 || length < MIN_ARP_LENGTH || bytes[12] !== 0x08 || bytes[13] !== 0x06) return false;
      if (bytes[20] !== 0 || bytes[21] !== ARP_REPLY || ((bytes[0] as number) & 1) !== 0) return false;
      // The answer to an ARP probe has no target: a search asks with an own address, who checks a hint without. RFC 5227 section 2.1.1
      if (ipv4Number(bytes, 38) === 0) return false;
      const ip = ipv4Number(bytes, 28);
      for (const { first, count } of claimed) if (ip >= first && ip < first + count) return !isNeeded(bytes);
      return false;
    },
  };
}
