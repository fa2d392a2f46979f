import { type Clock, toInstant } from "@lanthorn/runtime";
import type { KnownProbe } from "../probes-store.ts";

/** A probe that is online, as this process knows. */
export interface Watched {
  readonly probe: KnownProbe;
  /** By the monotonic clock, so that setting the wall clock silences nobody. */
  deadline: number;
  lastHeardAt: string;
  writtenAt: number;
  isJudged: boolean;
}

/** The probes that are online, when each was heard last, and what of that is not written yet. */
export interface WatchedProbes {
  /** Begins to watch a probe: it has the whole time to be heard. */
  add(probe: KnownProbe, lastHeardAt: string): void;
  find(probeId: string): Watched | undefined;
  remove(probeId: string): void;
  all(): Iterable<Watched>;
  /** A message of a probe came now. */
  heard(entry: Watched): void;
  /** This is to be written with the next check. */
  toWrite(probeId: string, at: string): void;
  /** Takes what is to be written: probe → when it was heard. */
  takeUnwritten(): ReadonlyMap<string, string>;
  /** What other processes have heard, as what this one has: the time begins anew when a newer word of it is there. */
  share(online: readonly KnownProbe[]): void;
}

/** `last_heard_at` is for people to read; writing it with every message would cost a commit each. */
const WRITE_HEARD_EVERY_MS = 15_000;

/** Watches none yet. @param deps.silentAfterMs After so long without a message a probe is silent. */
export function createWatchedProbes({ clock, silentAfterMs }: {
  readonly clock: Pick<Clock, "now" | "monotonic">; readonly silentAfterMs: number;
}): WatchedProbes {
  // Others judge by what is written.
  const writeEveryMs = Math.min(WRITE_HEARD_EVERY_MS, silentAfterMs / 4);
  const online = new Map<string, Watched>();
  let unwritten = new Map<string, string>();
  const add: WatchedProbes["add"] = (probe, lastHeardAt) => void online.set(probe.probeId, {
    probe, lastHeardAt, deadline: clock.monotonic() + silentAfterMs, writtenAt: clock.monotonic(), isJudged: false,
  });
  return {
    add,
    find: (probeId) => online.get(probeId),
    remove: (probeId) => void online.delete(probeId),
    all: () => online.values(),
    heard(entry) {
      const now = clock.monotonic();
      entry.deadline = now + silentAfterMs;
      entry.lastHeardAt = toInstant(clock.now());
      if (now - entry.writtenAt < writeEveryMs) return;
      entry.writtenAt = now;
      unwritten.set(entry.probe.probeId, entry.lastHeardAt);
    },
    toWrite: (probeId, at) => void unwritten.set(probeId, at),
    takeUnwritten() {
      const taken = unwritten;
      unwritten = new Map();
      return taken;
    },
    share(probes) {
      for (const probe of probes) {
        const entry = online.get(probe.probeId);
        const lastHeardAt = probe.lastHeardAt ?? toInstant(clock.now());
        if (!entry) add(probe, lastHeardAt);
        else if (lastHeardAt > entry.lastHeardAt) Object.assign(entry, { lastHeardAt, deadline: clock.monotonic() + silentAfterMs });
      }
      const ids = new Set(probes.map(({ probeId }) => probeId));
      for (const id of online.keys()) if (!ids.has(id)) online.delete(id);
    },
  };
}
