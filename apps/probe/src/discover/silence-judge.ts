import type { Clock } from "@lanthorn/runtime";
import type { Binding, Host } from "../hosts/host.ts";
import type { HostTable } from "../hosts/host-table.ts";
import { CHECK_AFTER_MS, endPoll, isGone, missesNeeded, OFFLINE_FLOOR_MISSES, SILENCE_BELIEVED_MS } from "../hosts/presence.ts";

/** Decides which hosts are offline, and which addresses their hosts have left. */
export interface SilenceJudge {
  /** Counts what the host did not answer in time, and says so when it is gone. @param now Monotonic milliseconds. */
  judge(host: Host, now: number): void;
  /** Nothing could be heard until `now`. */
  startAnew(now: number): void;
}

/** How fresh another host's frame must be to show that the link works: all quiet hosts are polled within forty seconds. */
const PROOF_MS = 45_000;

/** What presence is decided by, and who hears of it. */
export interface SilenceJudgeDeps {
  readonly table: HostTable;
  readonly clock: Pick<Clock, "monotonic">;
  /** The last evidence of any host. */
  readonly last: { readonly host: Host | null; readonly at: number };
  /** The host is offline from now on. */
  readonly onGone: (host: Host) => void;
  /** The host is there, and no longer at this address. */
  readonly onAddressGone: (host: Host, binding: Binding) => void;
}

/** A miss counts only while the link works, as another host shows, or when nobody has been heard for so long that nobody is there. */
export function createSilenceJudge({ table, clock, last, onGone, onAddressGone }: SilenceJudgeDeps): SilenceJudge {
  let aliveFrom = clock.monotonic();

  function linkWorks(host: Host, now: number): boolean {
    const others = table.online - (host.presence === "online" ? 1 : 0);
    if (others === 0) return true;
    if (last.host !== host && now - last.at < PROOF_MS) return true;
    return now - Math.max(last.at, aliveFrom) > SILENCE_BELIEVED_MS;
  }

  function judgeHost(host: Host, now: number): void {
    if (!endPoll(host.watch, now, linkWorks(host, now))) return;
    if (host.presence === "offline") {
      if (!isGone(host.watch, now, OFFLINE_FLOOR_MISSES)) return;
      host.confirmedOffline = true;
      host.unreported = true;
    } else if (isGone(host.watch, now, missesNeeded(host.watch)) && linkWorks(host, now)) {
      host.missedChecks = host.watch.misses;
      host.confirmedOffline = true;
      table.setPresence(host, "offline");
      onGone(host);
    }
  }

  function judgeAddresses(host: Host, now: number): void {
    // Backwards, as one may leave.
    for (let at = host.bindings.length - 1; at >= 0; at -= 1) {
      const binding = host.bindings[at] as Binding;
      const isHostHeard = now - host.watch.seenAt < CHECK_AFTER_MS;
      if (!endPoll(binding.watch, now, isHostHeard) || !isHostHeard || host.bindings.length < 2) continue;
      if (isGone(binding.watch, now, missesNeeded(host.watch))) onAddressGone(host, binding);
    }
  }

  return {
    judge(host, now) {
      judgeHost(host, now);
      judgeAddresses(host, now);
    },
    startAnew(now) {
      aliveFrom = now;
    },
  };
}
