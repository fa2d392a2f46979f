/** Makes one event of the many matches of a rule about a host, and publishes it when it begins, gets worse, goes on, and is over. */
import { type Clock, toInstant } from "@lanthorn/runtime";
import { createOngoingRegister } from "../ongoing/ongoing.ts";
import type { OngoingStore } from "../ongoing/ongoing-store.ts";
import type { Publisher } from "../queue/publisher.ts";
import type { Finding } from "./finding.ts";
import { addFinding, createIntrusion, type Intrusion, type IntrusionData, intrusionKey, restoreIntrusion } from "./intrusion.ts";
import { sidesOf } from "./subject.ts";

/** What became of findings since the probe was started. */
export interface IntrusionCounts {
  readonly findings: number;
  /** Not reported, because somebody suppressed them: by the suppression's id. */
  readonly suppressed: ReadonlyMap<string, number>;
  /** New ones for which there were too many at once. */
  readonly leftOut: number;
  /** That go on now. */
  readonly open: number;
}

/** The intrusions of a site. */
export interface Intrusions {
  /** @returns False where it begins one that could not be written down: say it again later. */
  report(finding: Finding): boolean;
  counts(): IntrusionCounts;
  close(): void;
}

/** Hosts of one rule; who forges senders makes one intrusion that stands for all others. */
const MAX_OF_ONE_RULE = 32;
/** The contract's limit. */
const MAX_SUPPRESSIONS = 1000;
const ALL_HOSTS = { ip: "", port: 0 };

/**
 * @param deps.publisher Of the database that `store` is in.
 * @param deps.isInternal Whether an address is one of the site.
 * @param deps.suppressionOf The id of what suppresses it; null for nothing.
 */
export function createIntrusions(deps: {
  readonly publisher: Publisher;
  readonly store: OngoingStore<IntrusionData>;
  readonly isInternal: (ip: string) => boolean;
  readonly suppressionOf: (finding: Finding, subjectIp: string) => string | null;
  readonly clock: Clock;
}): Intrusions {
  const { clock } = deps;
  const open = createOngoingRegister<Intrusion>({
    ...deps, restore: restoreIntrusion, groupOf: (key) => key.slice(0, key.indexOf(" ")),
    toEvent: (data, state) => ({ type: "ids_alert", occurred_at: toInstant(Math.min(Date.parse(data.last_at), clock.now())), data: { ...data, state } }),
  });
  let findings = 0;
  const suppressed = new Map<string, number>();

  return {
    report(finding) {
      findings += finding.times;
      const sides = sidesOf(finding, deps.isInternal);
      const suppression = deps.suppressionOf(finding, sides.subject.ip);
      if (suppression !== null) {
        if (suppressed.size < MAX_SUPPRESSIONS || suppressed.has(suppression)) suppressed.set(suppression, (suppressed.get(suppression) ?? 0) + finding.times);
        return true;
      }
      const own = open.get(intrusionKey(finding.rule, sides.subject.ip));
      const all = own ?? open.get(intrusionKey(finding.rule, ALL_HOSTS.ip));
      if (all) {
        addFinding(all, finding, sides.peer, clock.monotonic());
        return true;
      }
      const isFlood = open.ofGroup(`${finding.rule.gid}:${finding.rule.id}`) >= MAX_OF_ONE_RULE;
      return open.begin(() => createIntrusion(finding, isFlood ? { subject: ALL_HOSTS, peer: ALL_HOSTS } : sides, clock.monotonic())) !== "unwritten";
    },
    counts: () => ({ findings, leftOut: open.leftOut, suppressed, open: open.size }),
    close: () => open.close(),
  };
}
