import type { EventData } from "@lanthorn/contract";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { groupBy } from "../../db/query/group-by.ts";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { KnownProbe, ProbesStore } from "../probes-store.ts";
import { setOnline, setSilent } from "../store/presence.ts";

/** What is written down when a probe falls silent or comes back, with the event that says so. */
export interface PresenceEvents {
  /** Nothing where another process has heard the probe since. */
  silent(probe: KnownProbe, heard: { readonly lastHeardAt: string; readonly isCleanStop: boolean }): Promise<void>;
  /** Of several processes that hear a probe again, one says that it is back. */
  returned(probeIds: readonly string[], at: string): Promise<void>;
}

/** @param deps.published Is called after each commit with the tenant and its first new event. */
export function createPresenceEvents(deps: {
  readonly db: Kysely<Schema>; readonly probes: Pick<ProbesStore, "hold">; readonly log: EventLog;
  readonly published: (tenantId: string, fromSeq: number) => void; readonly clock: Pick<Clock, "now">; readonly logger: Log;
}): PresenceEvents {
  const { db, log, clock, logger } = deps;
  return {
    async silent(probe, { lastHeardAt, isCleanStop }) {
      const at = toInstant(clock.now());
      const data: EventData<"probe_silent"> = {
        code: "probe-silent", name: probe.name, last_heard_at: lastHeardAt, clean_stop: isCleanStop,
        message: isCleanStop ? "the probe was stopped" : "the probe sends no more messages",
      };
      const appended = await db.transaction().execute(async (trx) => (
        await setSilent(trx, probe, { at, lastHeardAt }) ? log.append(trx, probe.tenantId, [eventOf(probe, "probe_silent", at, data)]) : null
      ));
      if (!appended) return;
      logger.warn({ probe_id: probe.probeId, name: probe.name, clean_stop: isCleanStop }, "a probe is silent");
      deps.published(probe.tenantId, appended.fromSeq);
    },
    async returned(probeIds, at) {
      const all = await db.transaction().execute(async (trx) => {
        const news = (await deps.probes.hold(trx, probeIds)).filter(({ state }) => state !== "online");
        await setOnline(trx, news, at);
        const silent = [...groupBy(news.filter(({ state }) => state === "silent"), ({ tenantId }) => tenantId)]
          .toSorted(([a], [b]) => (a < b ? -1 : 1));
        const appended: { readonly tenantId: string; readonly probes: readonly KnownProbe[]; readonly fromSeq: number }[] = [];
        for (const [tenantId, probes] of silent) {
          const events = probes.map((probe) => {
            const data: EventData<"probe_returned"> = { name: probe.name, silent_since: probe.silentSince ?? at };
            return eventOf(probe, "probe_returned", at, data);
          });
          appended.push({ tenantId, probes, ...(await log.append(trx, tenantId, events)) });
        }
        return appended;
      });
      for (const { tenantId, probes, fromSeq } of all) {
        for (const { probeId, name } of probes) logger.info({ probe_id: probeId, name }, "a probe sends messages again");
        deps.published(tenantId, fromSeq);
      }
    },
  };
}

function eventOf(probe: KnownProbe, type: "probe_silent" | "probe_returned", at: string, data: object) {
  return {
    type, data, siteId: probe.siteId, probeId: probe.probeId, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at,
  } as const;
}
