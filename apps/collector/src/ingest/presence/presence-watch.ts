import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Lease } from "../../jobs/lease.ts";
import { createCoalescer } from "../commit/coalescer.ts";
import { createPresenceEvents, type PresenceEvents } from "./probe-presence-events.ts";
import type { KnownProbe, ProbesStore } from "../probes-store.ts";
import { setUnwatched } from "../store/presence.ts";
import { createWatchedProbes, type Watched, type WatchedProbes } from "./watched-probes.ts";

/** Knows which probes are there, and says so once when one falls silent or comes back. */
export interface PresenceWatch {
  /** Begins with the probes that were online when the collector ended: each has the whole time again to be heard. */
  start(): Promise<void>;
  /** Any message of a probe. One that was silent is online when the promise resolves; of any other there is nothing to wait for. */
  heard(probe: KnownProbe): Promise<unknown> | null;
  /** The probe says that it stops: silent at once. */
  stopped(probe: KnownProbe): Promise<void>;
  /** Its connection broke: silent soon, unless it is heard again. */
  lost(probe: KnownProbe): void;
  /** The probe has been revoked: its devices are no longer watched, and nobody is alarmed. */
  revoked(probeId: string): Promise<void>;
  close(): Promise<void>;
}

const CHECK_EVERY_MS = 1000;
/** A check later than this means that this process stood still, not the probes. */
const STALL_MS = 5000;
/** A probe that reconnects leaves a last will behind; its next message comes within this. */
const LOST_GRACE_MS = 5000;
/** How often is looked at what other processes have heard. */
const SHARE_EVERY_MS = 5000;

interface WatchDependencies {
  readonly db: Kysely<Schema>;
  readonly probes: Pick<ProbesStore, "hold" | "listOnline" | "setHeard">;
  readonly log: EventLog;
  readonly published: (tenantId: string, fromSeq: number) => void;
  /** Whether messages can reach this process; while they cannot, no probe is to blame. Asked once for each check. */
  readonly canHear: () => boolean;
  /** Runs work on one probe after what is under way for it. */
  readonly serial: (probeId: string, work: () => Promise<void>) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Log;
  readonly silentAfterSeconds: number;
  /** Where several processes hear the probes: which of them says that one is silent. Null where this is the only one. */
  readonly duty: Pick<Lease, "isHeld"> | null;
}

/**
 * Checks every second by the monotonic clock. Time in which the process stood still or could hear nothing does not count as silence.
 * Its checks are no row of the table of jobs: a check learns from its own lateness that this process stood still, so it must run when it
 * is due and wait for no run before it; and what it decides is part of this process' memory of who was heard.
 */
export function createPresenceWatch(deps: WatchDependencies): PresenceWatch {
  const { clock, db, duty, probes, logger } = deps;
  const silentAfterMs = deps.silentAfterSeconds * 1000;
  const watched = createWatchedProbes({ clock, silentAfterMs });
  const events = createPresenceEvents(deps);
  const silence = async ({ probe, lastHeardAt }: Watched, isCleanStop: boolean) => {
    await events.silent(probe, { lastHeardAt, isCleanStop });
    watched.remove(probe.probeId);
  };
  const welcome = createWelcome({ clock, watched, events });
  const check = createCheck({ ...deps, watched, silentAfterMs, silence: (entry) => silence(entry, false) });
  const write = once(async () => probes.setHeard(watched.takeUnwritten()), logger, "when probes were heard could not be written");
  const share = once(async () => watched.share(await probes.listOnline()), logger, "what other collectors have heard could not be read");
  const stopChecking = clock.every(CHECK_EVERY_MS, () => {
    check();
    void write.run();
  });
  const stopSharing = duty === null ? () => {} : clock.every(SHARE_EVERY_MS, () => void share.run());
  return {
    async start() {
      for (const probe of await probes.listOnline()) watched.add(probe, probe.lastHeardAt ?? toInstant(clock.now()));
      check.reset();
    },
    heard(probe) {
      const entry = watched.find(probe.probeId);
      if (!entry || probe.state === "silent") return welcome(probe.probeId, probe);
      watched.heard(entry);
      return null;
    },
    async stopped(probe) {
      const entry = watched.find(probe.probeId);
      if (!entry) return;
      // This is the last word of it, whoever heard those before.
      entry.lastHeardAt = toInstant(clock.now());
      await silence(entry, true);
    },
    lost(probe) {
      const entry = watched.find(probe.probeId);
      if (entry) entry.deadline = Math.min(entry.deadline, clock.monotonic() + LOST_GRACE_MS);
    },
    revoked: (probeId) => deps.serial(probeId, async () => {
      watched.remove(probeId);
      await setUnwatched(db, probeId);
    }),
    async close() {
      stopChecking();
      stopSharing();
      await Promise.all([write.idle(), share.idle()]);
      await probes.setHeard(new Map([...watched.all()].map(({ probe, lastHeardAt }) => [probe.probeId, lastHeardAt])));
    },
  };
}

/** After a broker was away all come back together. */
function createWelcome({ clock, watched, events }: {
  readonly clock: Pick<Clock, "now">; readonly watched: WatchedProbes; readonly events: PresenceEvents;
}) {
  return createCoalescer<KnownProbe, never>(async (asked) => {
    const at = toInstant(clock.now());
    await events.returned([...asked.keys()], at);
    for (const probe of asked.values()) {
      watched.add(probe, at);
      watched.toWrite(probe.probeId, at);
    }
    return new Map<string, never>();
  });
}

/** Looks at every probe's deadline, and writes down who is silent. `reset` begins to measure the time between checks anew. */
function createCheck(deps: Pick<WatchDependencies, "canHear" | "serial" | "clock" | "logger" | "duty"> & {
  readonly watched: WatchedProbes; readonly silentAfterMs: number; readonly silence: (entry: Watched) => Promise<void>;
}): (() => void) & { readonly reset: () => void } {
  const { clock, watched, silentAfterMs, duty } = deps;
  let lastCheck = clock.monotonic();
  const judge = async (entry: Watched) => {
    const { probeId } = entry.probe;
    try {
      await deps.serial(probeId, async () => {
        // It may have been heard while this waited for its turn.
        const isStill = watched.find(probeId) === entry && entry.deadline <= clock.monotonic();
        if (isStill) await deps.silence(entry);
      });
    } catch (error) {
      deps.logger.error({ probe_id: probeId, reason: describeError(error) }, "a silent probe could not be recorded, trying again");
    } finally {
      entry.isJudged = false;
    }
  };
  const check = () => {
    const now = clock.monotonic();
    const lateMs = now - lastCheck - CHECK_EVERY_MS;
    lastCheck = now;
    const canHear = deps.canHear();
    const isOurs = duty?.isHeld() ?? true;
    for (const entry of watched.all()) {
      if (!canHear) entry.deadline = Math.max(entry.deadline, now + silentAfterMs);
      else if (lateMs > STALL_MS) entry.deadline += lateMs;
      if (entry.deadline > now || entry.isJudged || !isOurs) continue;
      entry.isJudged = true;
      void judge(entry);
    }
  };
  const reset = () => {
    lastCheck = clock.monotonic();
  };
  return Object.assign(check, { reset });
}

/** Work that never runs twice at once: a call while it runs is no second one. A failure is logged. */
function once(work: () => Promise<void>, logger: Log, failure: string): { run(): Promise<void>; idle(): Promise<void> } {
  let running: Promise<void> | null = null;
  const run = async () => {
    try {
      await work();
    } catch (error) {
      logger.warn({ reason: describeError(error) }, failure);
    } finally {
      running = null;
    }
  };
  return {
    run: () => (running ??= run()),
    idle: async () => running ?? undefined,
  };
}
