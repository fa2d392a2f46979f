/** What is found in traffic, as much of it as the daemon can take: findings of one kind come together, and there is a bound for all. */
import type { Clock } from "@lanthorn/runtime";

interface Kind<Found> {
  last: Found;
  more: number;
}

/** Findings on their way to the daemon. */
export interface FindingRate<Found> {
  /** The first of its kind goes at once; more of them within a second come together at its end. */
  add(finding: Found): void;
  /** Matches that were not said: too many rules and hosts in one second, or the daemon did not read. */
  readonly lost: number;
  close(): void;
}

const FLUSH_MS = 1000;
/** Rules and flows, each second, of some 4 KB; twice as many messages are half of what the daemon reads. More flows of a rule and two hosts are one. */
const MAX_KINDS = 50;

/**
 * @param deps.send Returns false where the daemon does not read.
 * @param deps.kindOf What comes together: of a rule and two hosts, or the like, and where there are few, of less.
 */
export function createFindingRate<Found extends { readonly times: number }>(deps: {
  readonly send: (finding: Found) => boolean; readonly kindOf: (finding: Found) => { readonly wide: string; readonly narrow: string }; readonly clock: Pick<Clock, "every">;
}): FindingRate<Found> {
  const kinds = new Map<string, Kind<Found>>();
  /** The last of each wide kind. */
  const wides = new Map<string, Kind<Found>>();
  let lost = 0;

  function send(finding: Found): void {
    if (!deps.send(finding)) lost += finding.times;
  }

  function flush(): void {
    for (const { last, more } of kinds.values()) if (more > 0) send({ ...last, times: more });
    kinds.clear();
    wides.clear();
  }

  const stop = deps.clock.every(FLUSH_MS, flush);
  return {
    get lost() {
      return lost;
    },
    add(finding) {
      const { wide, narrow } = deps.kindOf(finding);
      const known = kinds.get(narrow) ?? (kinds.size < MAX_KINDS ? undefined : wides.get(wide));
      if (known) {
        known.last = finding;
        known.more += finding.times;
      } else if (kinds.size >= MAX_KINDS) lost += finding.times;
      else {
        const kind: Kind<Found> = { last: finding, more: 0 };
        kinds.set(narrow, kind);
        wides.set(wide, kind);
        send(finding);
      }
    },
    close() {
      stop();
      flush();
    },
  };
}
