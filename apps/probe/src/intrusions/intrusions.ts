/** Makes one event of the many matches of a rule about a host, and publishes it when it begins, gets worse, goes on, and is over. */
import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Publisher } from "../queue/publisher.ts";
import type { Finding } from "./finding.ts";
import { addFinding, createIntrusion, type Intrusion, intrusionKey, restoreIntrusion } from "./intrusion.ts";
import type { IntrusionsStore } from "./intrusions-store.ts";
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

const TICK_MS = 1000;
/** A change is published at once if the last publication is so long ago. */
const CHANGE_PAUSE_MS = 30_000;
/** One that goes on unchanged is published again, with its count. */
const REPEAT_MS = 600_000;
const QUIET_MS = 1_800_000;
/** Hosts of one rule; who forges senders makes one intrusion that stands for all others. */
const MAX_OF_ONE_RULE = 32;
const MAX_OPEN = 2000;
/** New ones at once, and one each second then: rules are many, and a host may trigger all of them. */
const MAX_BURST = 200;
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
  readonly store: IntrusionsStore;
  readonly isInternal: (ip: string) => boolean;
  readonly suppressionOf: (finding: Finding, subjectIp: string) => string | null;
  readonly clock: Clock;
}): Intrusions {
  const { publisher, store, clock } = deps;
  const open = createOpenIntrusions();
  const counts = { findings: 0, leftOut: 0 };
  const suppressed = new Map<string, number>();
  let room = MAX_BURST;
  for (const { key, data } of store.load()) open.add(restoreIntrusion(key, data, clock.monotonic()));

  /** @returns Whether it is written down. */
  function publish(intrusion: Intrusion, state: "ended" | "seen"): boolean {
    const data = { ...intrusion.data, state };
    const event: ProbeEvent = { type: "ids_alert", occurred_at: toInstant(Math.min(Date.parse(data.last_at), clock.now())), data };
    if (!publisher.publish([event], () => (state === "ended" ? store.remove(intrusion.key) : store.save(intrusion.key, data)))) return false;
    intrusion.news = "none";
    intrusion.publishedAt = clock.monotonic();
    return true;
  }

  function begin(finding: Finding, sides: ReturnType<typeof sidesOf>): boolean {
    if (open.size >= MAX_OPEN || room < 1) {
      counts.leftOut += 1;
      return true;
    }
    const intrusion = createIntrusion(finding, sides, clock.monotonic());
    if (!publish(intrusion, "seen")) return false;
    room -= 1;
    open.add(intrusion);
    return true;
  }

  function tick(): void {
    const now = clock.monotonic();
    room = Math.min(MAX_BURST, room + TICK_MS / 1000);
    for (const intrusion of open.all()) {
      const { news, publishedAt, lastAt } = intrusion;
      const since = now - (publishedAt ?? 0);
      if ((news === "changed" && since >= CHANGE_PAUSE_MS) || (news === "repeated" && since >= REPEAT_MS)) publish(intrusion, "seen");
      if (now - lastAt >= QUIET_MS && publish(intrusion, "ended")) open.remove(intrusion);
    }
  }

  const stop = clock.every(TICK_MS, tick);
  return {
    report(finding) {
      counts.findings += finding.times;
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
      const isFlood = open.ofRule(finding.rule) >= MAX_OF_ONE_RULE;
      return begin(finding, isFlood ? { subject: ALL_HOSTS, peer: ALL_HOSTS } : sides);
    },
    counts: () => ({ ...counts, suppressed, open: open.size }),
    close: () => stop(),
  };
}

/** Those that go on, and how many of each rule. */
function createOpenIntrusions() {
  const byKey = new Map<string, Intrusion>();
  const counts = new Map<string, number>();
  const ruleOf = (key: string) => key.slice(0, key.indexOf(" "));
  return {
    get size() {
      return byKey.size;
    },
    get: (key: string) => byKey.get(key),
    all: () => byKey.values(),
    ofRule: ({ gid, id }: Finding["rule"]) => counts.get(`${gid}:${id}`) ?? 0,
    add(intrusion: Intrusion): void {
      byKey.set(intrusion.key, intrusion);
      counts.set(ruleOf(intrusion.key), (counts.get(ruleOf(intrusion.key)) ?? 0) + 1);
    },
    remove({ key }: Intrusion): void {
      byKey.delete(key);
      const left = (counts.get(ruleOf(key)) ?? 1) - 1;
      if (left > 0) counts.set(ruleOf(key), left);
      else counts.delete(ruleOf(key));
    },
  };
}
