/**
 * An IPv6 address that a decoy takes. The kernel runs duplicate address detection before the address is used. The decoy gives it up as soon as another
 * host claims it. The kernel may have answered that host's own detection by then: the host finds the address free at its next attempt. @see RFC 4862 section 5.4
 */
import { equalBytes, formatMac } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import type { AddressCondition } from "./address-state.ts";
import { createAttempts } from "./attempts.ts";
import type { NeighborClaim } from "./neighbor-claims.ts";

const LOOK_MS = 500;
/** Duplicate address detection takes a second or two. */
const MAX_LOOKS = 20;

/** The claim to one address, until it is closed. */
export interface Ipv6Claim {
  /** A host claims an address: another one, or this decoy itself. */
  onClaim(claim: NeighborClaim): void;
  /** Removes the address. Rejects if the kernel refuses. */
  close(): Promise<void>;
}

/** Starts at once. @param deps.take Adds the address to its link. @param deps.read The state of the address in the kernel. */
export function claimIpv6Address({ ip, mac, take, release, read, onChange, random, clock }: {
  readonly ip: Uint8Array; readonly mac: Uint8Array; readonly take: () => Promise<void>; readonly release: () => Promise<void>;
  readonly read: () => Promise<"absent" | "tentative" | "duplicate" | "ready">; readonly onChange: (condition: AddressCondition) => void; readonly random: () => number; readonly clock: Pick<Clock, "after">;
}): Ipv6Claim {
  const attempts = createAttempts({ release, onChange, random, clock }, ({ later, run, isCurrent, taken }) => {
    const look = (left: number) => run(async () => {
      const found = await read();
      if (!isCurrent()) return;
      if (found === "ready") taken();
      else if (found === "duplicate") attempts.giveUp(null);
      else if (left === 0) throw new Error("the kernel did not finish duplicate address detection in ten seconds");
      else later(LOOK_MS, () => look(left - 1));
    });
    run(take);
    look(MAX_LOOKS);
  });
  return {
    onClaim({ mac: sender, target }) {
      const state = attempts.state();
      if ((state === "probing" || state === "taken") && equalBytes(target, ip) && !equalBytes(sender, mac)) attempts.giveUp(formatMac(sender));
    },
    close: attempts.close,
  };
}
