import type { GuardDeps } from "../guard.ts";
import { macText } from "./mac-number.ts";

/** Notices replies and advertisements by the hundred that nobody asked for. */
export interface ClaimStorm {
  /** @param hash Of the address. @param isNew Nobody was known to have it. */
  note(claim: { readonly source: number; readonly hash: number; readonly isNew: boolean; readonly length: number; readonly packet: Uint8Array }, now: number): void;
  tick(now: number): void;
}

interface Tally {
  score: number;
  /** A bit for each address, by its hash. */
  readonly seen: Uint8Array;
}

const MAX_SOURCES = 256;
const WINDOW_MS = 2000;
/** A router that takes over hundreds of virtual addresses announces each a few times; who repeats or makes up so many does no such thing. */
const MAX_FROM_ONE = 60;
const MAX_FROM_ALL = 300;
const BITS = 1024;
const SPOOFING = ["arp_spoofing", "ndp_spoofing"] as const;

/** The first claims of an address that is known are free in each window. */
export function createClaimStorm({ incidents }: Pick<GuardDeps, "incidents">): ClaimStorm {
  const tallies = new Map<number, Tally>();
  let windowAt = 0;
  let total = 0;
  let packet: Uint8Array | null = null;
  let isIpv6 = false;
  const isReported = (mac: string) => SPOOFING.some((kind) => (mac !== "" && incidents.isOpen(kind, mac)) || incidents.hasMany(kind));

  function report(mac: string, score: number): void {
    const what = isIpv6 ? "neighbor advertisements" : "ARP replies";
    incidents.report({
      kind: "arp_storm", subject: mac === "" ? "link" : mac, severity: "medium", ip: "", mac, packet, facts: { protocol: isIpv6 ? "NDP" : "ARP" },
      detail: `${mac === "" ? "Many senders at once send" : `${mac} sends`} ${what} that nobody asked for, ${score} in two seconds. A healthy host sends a few `
        + "when an address moves. This fills the neighbor tables of hosts and switches and can redirect traffic. Find the switch port that they come from; "
        + "look for a loop, a broken device or an attack tool there.",
    });
  }

  function clear(now: number): void {
    tallies.clear();
    total = 0;
    windowAt = now;
  }
  return {
    note({ source, hash, isNew, length, packet: bytes }, now) {
      if (now - windowAt > WINDOW_MS) clear(now);
      let tally = tallies.get(source);
      if (!tally && tallies.size < MAX_SOURCES) {
        tally = { score: 0, seen: new Uint8Array(BITS / 8) };
        tallies.set(source, tally);
      }
      const at = (hash >>> 3) & (BITS / 8 - 1);
      const bit = 1 << (hash & 7);
      if (tally && !isNew && ((tally.seen[at] as number) & bit) === 0) {
        tally.seen[at] = (tally.seen[at] as number) | bit;
        return;
      }
      total += 1;
      if (!tally) return;
      tally.score += 1;
      if (tally.score !== MAX_FROM_ONE && total !== MAX_FROM_ALL) return;
      packet = bytes.slice();
      isIpv6 = length === 16;
    },
    tick(now) {
      let fromMany = total;
      for (const [source, { score }] of tallies) {
        if (score < MAX_FROM_ONE) continue;
        fromMany -= score;
        const mac = macText(source);
        if (!isReported(mac)) report(mac, score);
      }
      if (fromMany >= MAX_FROM_ALL && !isReported("") && !incidents.isOpen("mac_flooding", "link")) report("", fromMany);
      // A storm that is over is not reported again.
      if (now - windowAt > WINDOW_MS) clear(now);
    },
  };
}
