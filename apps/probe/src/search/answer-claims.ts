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

/** @see RFC 826 */
export function createCapturedClaims(): CapturedClaims {
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
      const ip = ipv4Number(bytes, 28);
      for (const { first, count } of claimed) if (ip >= first && ip < first + count) return true;
      return false;
    },
  };
}
