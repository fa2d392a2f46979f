import type { Clock } from "@lanthorn/runtime";
import type { Parts } from "./parts.ts";
import { createTimeGap } from "./time-gap.ts";

/** What is done at its times: reading the link, polling, reporting. */
export interface Rounds {
  /** Call it twice a second. */
  tick(now: number): void;
  /** Reads the link now, as before an order is carried out: it may just have come up. */
  readLink(now?: number): void;
  /** Appends presence reports. @param which `fresh`: of hosts seen since their last report. */
  report(which: "fresh" | "all"): void;
  /** Ends sweeps. */
  abort(reason: string): Promise<void>;
}

const CHECK_MS = 1000;
const MINUTE_MS = 60_000;
/** After a start the collector holds every host for unknown: what shows itself is reported without waiting for the minute. */
const RETURNED_REPORTED_AFTER_MS = 2000;
/** A link that has just come up drops the first frames: spanning tree, DHCP. */
const SWEEP_AFTER_UP_MS = 1000;

/** @returns The rounds of these parts; the first minute begins now. */
export function createRounds(
  { link, hosts, names, listenerQueries, polls, schedule, routed, scans, wantMore }: Parts, clock: Clock,
): Rounds {
  const { table } = hosts;
  const gap = createTimeGap(clock);
  let checkedAt = Number.NEGATIVE_INFINITY;
  let minuteAt = clock.monotonic();
  let returnedAt: number | null = null;
  hosts.events.listen([{ onReturned: () => void (returnedAt ??= clock.monotonic()) }]);

  const abort: Rounds["abort"] = async (reason) => {
    await Promise.all([schedule.abort(reason), routed.abort(reason)]);
  };
  const startAnew = (now: number) => {
    for (const one of [polls, routed, listenerQueries]) one.startAnew(now);
  };
  const report = (which: "fresh" | "all") => {
    for (const one of [hosts.announcer, routed]) one.report(which);
  };
  const readLink = (now = clock.monotonic()) => {
    const change = link.refresh();
    if (!change) return;
    startAnew(now);
    if (link.up) schedule.sweepAt(now + (change.before?.up ? 0 : SWEEP_AFTER_UP_MS));
    scans.linkChanged(link.up);
    if (change.before?.up) void abort("the interface went down or changed its addresses");
  };
  const reportReturned = (now: number) => {
    if (returnedAt === null || now - returnedAt < RETURNED_REPORTED_AFTER_MS) return;
    returnedAt = null;
    report("fresh");
  };
  const reportMinute = (now: number) => {
    if (now - minuteAt < MINUTE_MS) return;
    minuteAt = now;
    hosts.saveLastSeen();
    report("fresh");
    if (link.up) for (const host of table.all()) if (host.presence === "online") wantMore(host);
  };
  const poll = (now: number) => {
    if (now - checkedAt >= CHECK_MS) {
      checkedAt = now;
      routed.tick(now);
      polls.checkSilent(now);
    }
    for (const one of [polls, schedule]) one.tick(now);
    names?.retry(now);
  };
  return {
    readLink, report, abort,
    tick(now) {
      if (gap.passed(now)) startAnew(now);
      readLink(now);
      if (link.up) poll(now);
      hosts.flush(now);
      reportReturned(now);
      reportMinute(now);
    },
  };
}
