/**
 * An address of IPv6 that a decoy takes: the kernel looks for a duplicate before it is used, and it is given up as soon as another host
 * claims it. To whom looks for it himself the kernel has answered by then: he finds it free when he tries again. @see RFC 4862 section 5.4
 */
import { equalBytes, formatMac } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import type { AddressCondition } from "./address-state.ts";
import { createAttempts } from "./attempts.ts";
import type { NeighborClaim } from "./neighbor-claims.ts";

const LOOK_MS = 500;
/** The kernel takes a second or two. */
const MAX_LOOKS = 20;

/** An address that is being taken, or was. */
export interface Ipv6Claim {
  /** Somebody claims an address, we too. */
  onClaim(claim: NeighborClaim): void;
  /** Gives the address back. */
  close(): Promise<void>;
}

/** Begins at once. @param deps.take Puts the address on its link. @param deps.read How the kernel says it is there. */
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
      else if (left === 0) throw new Error("the kernel did not find out whether it is free");
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
