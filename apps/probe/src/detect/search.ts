import { createLink, type Link } from "../capture/link.ts";
import type { GuardDeps } from "./guard.ts";

/** Asks all servers or routers of the link, soon after the start, regularly, and soon after a hint. */
export interface Search {
  /** Something is to be looked at now. */
  hint(): void;
  /** Whether an answer with this identifier is one to us. */
  isOwn(xid: number): boolean;
  /** @param isUrgent While it is, it is asked four times within the time after which incidents end. */
  tick(now: number, isUrgent: boolean): void;
}

const INTERVAL_MS = 300_000;
const START_MS = 1000;
/** Hints that come closer together are one. */
const MIN_PAUSE_MS = 4000;
/** Rounds whose answers are known as ours. */
const MAX_ROUNDS = 4;

/**
 * @param deps.encode The frames of a round, for an identifier of `idBits` bits.
 * @param deps.onAsked A round has been sent.
 */
export function createSearch(deps: Pick<GuardDeps, "clock" | "link" | "probes" | "random" | "settings"> & {
  readonly encode: (link: Link, id: number) => readonly Uint8Array[];
  readonly idBits: number;
  readonly onAsked?: (now: number) => void;
}): Search {
  const ids: number[] = [];
  let askedAt = Number.NEGATIVE_INFINITY;
  let dueAt: number | null = null;
  let isHinted = false;
  const jittered = (ms: number) => ms * (0.8 + 0.4 * deps.random());
  function ask(now: number): void {
    const link = createLink(deps.link());
    if (!link?.up) return;
    const id = Math.floor(deps.random() * 2 ** deps.idBits);
    const taken = deps.encode(link, id).filter((frame) => deps.probes.send(frame, true));
    if (taken.length === 0) return;
    ids.unshift(id);
    ids.length = Math.min(ids.length, MAX_ROUNDS);
    deps.onAsked?.(now);
  }
  return {
    hint() {
      isHinted = true;
    },
    isOwn: (xid) => ids.includes(xid),
    tick(now, isUrgent) {
      dueAt ??= now + jittered(START_MS);
      if (isUrgent) dueAt = Math.min(dueAt, askedAt + Math.max(MIN_PAUSE_MS, deps.settings().quiet_seconds * 250));
      if (now < dueAt && !(isHinted && now - askedAt >= MIN_PAUSE_MS)) return;
      isHinted = false;
      askedAt = now;
      dueAt = now + jittered(INTERVAL_MS);
      ask(now);
    },
  };
}
