import type { EventData } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { lockSite } from "../db/lock-site.ts";
import type { Schema } from "../db/schema.ts";
import { updateMany } from "../db/write-many.ts";
import type { EventLog } from "../events/log.ts";
import type { Lease } from "../jobs/lease.ts";
import { groupBy } from "./group-by.ts";
import { type KnownProbe, type ProbesStore, setDevicesUnknown } from "./probes-store.ts";
import { createCoalescer } from "./coalescer.ts";

/** Knows which probes are there, and says so once when one falls silent or comes back. */
export interface PresenceWatch {
  /** Begins with the probes that were online when the collector ended: each has the whole time again to be heard. */
  start(): Promise<void>;
  /** Any message of a probe. One that was silent is online when the promise resolves. */
  heard(probe: KnownProbe): Promise<void>;
  /** The probe says that it stops: silent at once. */
  stopped(probe: KnownProbe): Promise<void>;
  /** Its connection broke: silent soon, unless it is heard again. */
  lost(probe: KnownProbe): void;
  /** The probe has been revoked: its devices are no longer watched, and nobody is alarmed. */
  revoked(probeId: string): Promise<void>;
  close(): Promise<void>;
}

interface Watched {
  readonly probe: KnownProbe;
  /** By the monotonic clock, so that setting the wall clock silences nobody. */
  deadline: number;
  lastHeardAt: string;
  writtenAt: number;
  isJudged: boolean;
}

const CHECK_EVERY_MS = 1000;
/** A check later than this means that this process stood still, not the probes. */
const STALL_MS = 5000;
/** A probe that reconnects leaves a last will behind; its next message comes within this. */
const LOST_GRACE_MS = 5000;
/** `last_heard_at` is for people to read; writing it with every message would cost a commit each. */
const WRITE_HEARD_EVERY_MS = 15_000;
/** How often is looked at what other processes have heard. */
const SHARE_EVERY_MS = 5000;

/** Checks every second by the monotonic clock. Time in which the process stood still or could hear nothing does not count as silence. */
export function createPresenceWatch(deps: {
  readonly db: Kysely<Schema>;
  readonly probes: Pick<ProbesStore, "hold" | "listOnline" | "setHeard">;
  readonly log: EventLog;
  readonly published: (tenantId: string, fromSeq: number) => void;
  /** Whether messages can reach this process; while they cannot, no probe is to blame. */
  readonly canHear: () => boolean;
  /** Runs work on one probe after what is under way for it. */
  readonly serial: (probeId: string, work: () => Promise<void>) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Log;
  readonly silentAfterSeconds: number;
  /** Where several processes hear the probes: which of them says that one is silent. Null where this is the only one. */
  readonly duty: Pick<Lease, "isHeld"> | null;
}): PresenceWatch {
  const { clock, db, duty } = deps;
  const silentAfterMs = deps.silentAfterSeconds * 1000;
  // Others judge by what is written.
  const writeEveryMs = Math.min(WRITE_HEARD_EVERY_MS, silentAfterMs / 4);
  const online = new Map<string, Watched>();
  /** What is to be written with the next check: a commit for all instead of one each. */
  let unwritten = new Map<string, string>();
  let writing: Promise<void> | null = null;
  let sharing: Promise<void> | null = null;
  let lastCheck = clock.monotonic();

  const watch = (probe: KnownProbe, lastHeardAt: string) =>
    online.set(probe.probeId, {
      probe, lastHeardAt, deadline: clock.monotonic() + silentAfterMs, writtenAt: clock.monotonic(), isJudged: false,
    });

  const silence = async (entry: Watched, how: { readonly isCleanStop: boolean }) => {
    const { probe, lastHeardAt } = entry;
    const at = toInstant(clock.now());
    const data: EventData<"probe_silent"> = {
      code: "probe-silent", name: probe.name, last_heard_at: lastHeardAt, clean_stop: how.isCleanStop,
      message: how.isCleanStop ? "the probe was stopped" : "the probe sends no more messages",
    };
    const appended = await db.transaction().execute(async (trx) => {
      await lockSite(trx, probe.siteId);
      // Unless another process has heard it since.
      const { numUpdatedRows } = await trx.updateTable("probes").set({ state: "silent", silent_since: at, last_heard_at: lastHeardAt })
        .where("id", "=", probe.probeId).where("state", "=", "online").where("revoked_at", "is", null)
        .where((eb) => eb.or([eb("last_heard_at", "is", null), eb("last_heard_at", "<=", lastHeardAt)])).executeTakeFirst();
      if (numUpdatedRows === 0n) return null;
      await setDevicesUnknown(trx, probe.siteId);
      return deps.log.append(trx, probe.tenantId, [eventOf(probe, "probe_silent", at, data)]);
    });
    online.delete(probe.probeId);
    if (!appended) return;
    deps.logger.warn({ probe_id: probe.probeId, name: probe.name, clean_stop: how.isCleanStop }, "a probe is silent");
    deps.published(probe.tenantId, appended.fromSeq);
  };

  /** After a broker was away all come back together. */
  const welcomeAll = createCoalescer<KnownProbe, never>(async (asked) => {
    const at = toInstant(clock.now());
    const returned = await db.transaction().execute(async (trx) => {
      const held = await deps.probes.hold(trx, [...asked.keys()]);
      // Another process may have heard them too: of two, one says that they are back.
      const news = held.filter(({ state }) => state !== "online");
      await updateMany(trx, "probes", news.map(({ probeId: id }) => ({ id, state: "online", silent_since: null, last_heard_at: at })));
      const silent = [...groupBy(news.filter(({ state }) => state === "silent"), ({ tenantId }) => tenantId)]
        .toSorted(([a], [b]) => (a < b ? -1 : 1));
      const appended: { readonly probes: readonly KnownProbe[]; readonly fromSeq: number }[] = [];
      for (const [tenantId, probes] of silent) {
        const events = probes.map((probe) => {
          const data: EventData<"probe_returned"> = { name: probe.name, silent_since: probe.silentSince ?? at };
          return eventOf(probe, "probe_returned", at, data);
        });
        appended.push({ probes, ...(await deps.log.append(trx, tenantId, events)) });
      }
      return appended;
    });
    for (const probe of asked.values()) {
      watch(probe, at);
      unwritten.set(probe.probeId, at);
    }
    for (const { probes, fromSeq } of returned) {
      for (const { probeId, name } of probes) deps.logger.info({ probe_id: probeId, name }, "a probe sends messages again");
      deps.published((probes[0] as KnownProbe).tenantId, fromSeq);
    }
    return new Map<string, never>();
  });

  const judge = async (entry: Watched) => {
    try {
      await deps.serial(entry.probe.probeId, async () => {
        // It may have been heard while this waited for its turn.
        const isStill = online.get(entry.probe.probeId) === entry && entry.deadline <= clock.monotonic();
        if (isStill) await silence(entry, { isCleanStop: false });
      });
    } catch (error) {
      deps.logger.error(
        { probe_id: entry.probe.probeId, reason: describeError(error) }, "a silent probe could not be recorded, trying again",
      );
    } finally {
      entry.isJudged = false;
    }
  };
  const check = () => {
    const now = clock.monotonic();
    const lateMs = now - lastCheck - CHECK_EVERY_MS;
    lastCheck = now;
    const canHear = deps.canHear();
    for (const entry of online.values()) {
      if (!canHear) entry.deadline = Math.max(entry.deadline, now + silentAfterMs);
      else if (lateMs > STALL_MS) entry.deadline += lateMs;
      if (entry.deadline > now || entry.isJudged || !(duty?.isHeld() ?? true)) continue;
      entry.isJudged = true;
      void judge(entry);
    }
    writing ??= write();
  };

  const write = async () => {
    const times = unwritten;
    unwritten = new Map();
    try {
      await deps.probes.setHeard(times);
    } catch (error) {
      deps.logger.warn({ reason: describeError(error) }, "when probes were heard could not be written");
    } finally {
      writing = null;
    }
  };
  /** What others have heard, as what this process has: the time begins anew when a newer word of it is there. */
  const share = async () => {
    try {
      const rows = new Map((await deps.probes.listOnline()).map((probe) => [probe.probeId, probe]));
      for (const probe of rows.values()) {
        const entry = online.get(probe.probeId);
        const heardAt = probe.lastHeardAt ?? toInstant(clock.now());
        if (!entry) watch(probe, heardAt);
        else if (heardAt > entry.lastHeardAt) Object.assign(entry, { lastHeardAt: heardAt, deadline: clock.monotonic() + silentAfterMs });
      }
      for (const id of online.keys()) if (!rows.has(id)) online.delete(id);
    } catch (error) {
      deps.logger.warn({ reason: describeError(error) }, "what other collectors have heard could not be read");
    } finally {
      sharing = null;
    }
  };
  const stopChecking = clock.every(CHECK_EVERY_MS, check);
  const stopSharing = duty === null ? () => {} : clock.every(SHARE_EVERY_MS, () => {
    sharing ??= share();
  });

  return {
    async start() {
      for (const probe of await deps.probes.listOnline()) watch(probe, probe.lastHeardAt ?? toInstant(clock.now()));
      lastCheck = clock.monotonic();
    },
    async heard(probe) {
      const at = toInstant(clock.now());
      const entry = online.get(probe.probeId);
      if (!entry || probe.state === "silent") return void (await welcomeAll(probe.probeId, probe));
      entry.deadline = clock.monotonic() + silentAfterMs;
      entry.lastHeardAt = at;
      if (clock.monotonic() - entry.writtenAt < writeEveryMs) return undefined;
      entry.writtenAt = clock.monotonic();
      unwritten.set(probe.probeId, at);
      return undefined;
    },
    async stopped(probe) {
      const entry = online.get(probe.probeId);
      if (!entry) return;
      // This is the last word of it, whoever heard those before.
      entry.lastHeardAt = toInstant(clock.now());
      await silence(entry, { isCleanStop: true });
    },
    lost(probe) {
      const entry = online.get(probe.probeId);
      if (entry) entry.deadline = Math.min(entry.deadline, clock.monotonic() + LOST_GRACE_MS);
    },
    revoked: (probeId) => deps.serial(probeId, async () => {
      online.delete(probeId);
      await db.transaction().execute(async (trx) => {
        const probe = await trx.selectFrom("probes").select("site_id").where("id", "=", probeId).executeTakeFirst();
        if (!probe) return;
        await lockSite(trx, probe.site_id);
        await setDevicesUnknown(trx, probe.site_id);
      });
    }),
    async close() {
      stopChecking();
      stopSharing();
      await Promise.all([writing, sharing]);
      await deps.probes.setHeard(new Map([...online.values()].map(({ probe, lastHeardAt }) => [probe.probeId, lastHeardAt])));
    },
  };
}

function eventOf(probe: KnownProbe, type: "probe_silent" | "probe_returned", at: string, data: object) {
  return {
    type, data, siteId: probe.siteId, probeId: probe.probeId, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at,
  } as const;
}
