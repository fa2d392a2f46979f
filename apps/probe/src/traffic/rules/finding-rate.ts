/** What the engine finds, as much of it as the daemon can take: matches between the same ends come together, and there is a bound for all. */
import type { Clock } from "@lanthorn/runtime";
import type { Finding } from "../../intrusions/finding.ts";

interface Kind {
  last: Finding;
  more: number;
}

/** Findings on their way to the daemon. */
export interface FindingRate {
  /** The first of its kind goes at once; more of them within a second come together at its end. */
  add(finding: Finding): void;
  /** Matches that were not said: too many rules and hosts in one second, or the daemon did not read. */
  readonly lost: number;
  close(): void;
}

const FLUSH_MS = 1000;
/** Rules and flows, each second, of some 4 KB; twice as many messages are half of what the daemon reads. More flows of a rule and two hosts are one. */
const MAX_KINDS = 50;

/** @param deps.send Returns false where the daemon does not read. */
export function createFindingRate(deps: { readonly send: (finding: Finding) => boolean; readonly clock: Pick<Clock, "every"> }): FindingRate {
  const kinds = new Map<string, Kind>();
  /** The last of each rule and two hosts. */
  const hosts = new Map<string, Kind>();
  let lost = 0;

  function send(finding: Finding): void {
    if (!deps.send(finding)) lost += finding.times;
  }

  function flush(): void {
    for (const { last, more } of kinds.values()) if (more > 0) send({ ...last, times: more });
    kinds.clear();
    hosts.clear();
  }

  const stop = deps.clock.every(FLUSH_MS, flush);
  return {
    get lost() {
      return lost;
    },
    add(finding) {
      const { rule, source, destination, protocol } = finding;
      const pair = `${rule.gid}:${rule.id} ${protocol} ${source.ip} ${destination.ip}`;
      const key = `${pair} ${source.port} ${destination.port}`;
      const known = kinds.get(key) ?? (kinds.size < MAX_KINDS ? undefined : hosts.get(pair));
      if (known) {
        known.last = finding;
        known.more += finding.times;
      } else if (kinds.size >= MAX_KINDS) lost += finding.times;
      else {
        const kind: Kind = { last: finding, more: 0 };
        kinds.set(key, kind);
        hosts.set(pair, kind);
        send(finding);
      }
    },
    close() {
      stop();
      flush();
    },
  };
}
