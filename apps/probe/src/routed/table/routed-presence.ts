import type { Clock } from "@lanthorn/runtime";
import { missesNeeded, notePolled, noteSeen, OFFLINE_FLOOR_MS, startAnew } from "../../hosts/presence.ts";
import type { RoutedHost } from "../routed-host.ts";

/** For a host in doubt, as many as are polled beside it, to show that answers of its network arrive. */
const WITNESSES = 3;
/** One poll takes no more: with these it lasts seconds. */
const MAX_DUE = 256;

/** The host showed itself. The caller sets its presence. @param isAnswer It answered a poll, and was not only seen by a scan. */
export function noteShown(host: RoutedHost, clock: Pick<Clock, "now" | "monotonic">, isAnswer: boolean): void {
  const now = clock.monotonic();
  if (isAnswer) notePolled(host.watch, now);
  noteSeen(host.watch, now);
  Object.assign(host, { isDoubted: false, missedFrom: null, lastSeenAt: clock.now(), unreported: true, confirmedOffline: false });
}

/**
 * The host did not answer a poll.
 * @param counts Whether silence means anything: answers of its network arrive.
 * @returns Whether it is offline from now on. The caller sets its presence.
 */
export function noteMiss(host: RoutedHost, now: number, counts: boolean): boolean {
  host.isDoubted = host.presence === "online";
  if (!counts) return false;
  if (host.presence === "offline") {
    host.unreported ||= !host.confirmedOffline;
    host.confirmedOffline = true;
    return false;
  }
  host.watch.misses += 1;
  host.missedFrom ??= now;
  if (host.watch.misses < missesNeeded(host.watch) || now - host.missedFrom < OFFLINE_FLOOR_MS) return false;
  host.missedChecks = host.watch.misses;
  Object.assign(host, { confirmedOffline: true, unreported: true, isDoubted: false });
  return true;
}

/** Nothing could be heard until `now`: no miss before it counts. */
export function forgiveMisses(host: RoutedHost, now: number): void {
  startAnew(host.watch, now);
  host.missedFrom = null;
  host.isDoubted = false;
}

/**
 * Which hosts of one network are polled by themselves: those in doubt, with witnesses beside them, and those whose last poll is long ago.
 * @param hosts Those of the network that are online and may be polled.
 */
export function chooseDue(
  hosts: readonly RoutedHost[], options: { readonly now: number; readonly doubtedAfterMs: number; readonly overdueMs: number },
): readonly RoutedHost[] {
  const { now, doubtedAfterMs, overdueMs } = options;
  const isDue = ({ isDoubted, polledAt }: RoutedHost) => now - polledAt >= (isDoubted ? doubtedAfterMs : overdueMs);
  const due = hosts.filter(isDue).toSorted((a, b) => a.polledAt - b.polledAt).slice(0, MAX_DUE);
  if (!due.some(({ isDoubted }) => isDoubted)) return due;
  const witnesses = hosts.filter((host) => !host.isDoubted && !due.includes(host));
  return [...due, ...witnesses.toSorted((a, b) => b.lastSeenAt - a.lastSeenAt).slice(0, WITNESSES)];
}
