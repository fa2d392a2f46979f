/**
 * An address of IPv6 that a decoy takes: the kernel looks for a duplicate before it is used, and it is given up as soon as another host
 * claims it. To whom looks for it himself the kernel has answered by then: he finds it free when he tries again. @see RFC 4862 section 5.4
 */
import { equalBytes, formatMac } from "@lanthorn/packets";
import { type Clock, describeError } from "@lanthorn/runtime";
import type { AddressCondition } from "./address-state.ts";
import { RETRY_FAILED_MS, RETRY_MS } from "./claim.ts";
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
  let state: AddressCondition["state"] = "probing";
  let cancel: () => void = () => undefined;
  /** What belongs to an earlier attempt must not go on. */
  let attempt = 0;
  let work = Promise.resolve();
  const become = (condition: AddressCondition) => {
    state = condition.state;
    onChange(condition);
  };
  const end = (condition: AddressCondition, retryMs: number) => {
    attempt += 1;
    cancel();
    become(condition);
    // A second failure is the first one's, which is said already.
    work = work.then(release).catch(() => undefined);
    cancel = clock.after(retryMs, begin);
  };
  const giveUp = (owner: string | null) => end({ state: "in_use", used_by: owner, problem: null }, RETRY_MS * (1 + random() / 10));
  const begin = () => {
    attempt += 1;
    const own = attempt;
    become({ state: "probing", used_by: null, problem: null });
    const step = (task: () => Promise<void>) => {
      work = work.then(() => (own === attempt ? task() : undefined)).catch((error: unknown) => end({ state: "failed", used_by: null, problem: describeError(error) }, RETRY_FAILED_MS));
    };
    const look = (left: number) => step(async () => {
      const found = await read();
      if (own !== attempt) return;
      if (found === "ready") become({ state: "taken", used_by: null, problem: null });
      else if (found === "duplicate") giveUp(null);
      else if (left === 0) throw new Error("the kernel did not find out whether it is free");
      else cancel = clock.after(LOOK_MS, () => look(left - 1));
    });
    step(take);
    look(MAX_LOOKS);
  };
  begin();
  return {
    onClaim({ mac: sender, target }) {
      if ((state === "probing" || state === "taken") && equalBytes(target, ip) && !equalBytes(sender, mac)) giveUp(formatMac(sender));
    },
    close() {
      attempt += 1;
      cancel();
      return (work = work.then(release).catch(() => undefined));
    },
  };
}
