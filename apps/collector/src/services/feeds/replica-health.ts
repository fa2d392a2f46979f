import type { EventData } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { EventLog } from "../../events/log.ts";
import type { LoadedData } from "./definition.ts";
import { newEvent } from "./running/run-update.ts";
import type { FeedsStore } from "./store.ts";

const HOUR_MS = 3_600_000;
/** Those that share a folder have it within a minute, and to import by hand takes some. */
const MISSING_AFTER_MS = HOUR_MS;

/** How data that another collector has fetched are on this one, which has a copy of its own. */
export interface ReplicaHealth {
  /** Publishes it where that has changed since this process began: it raises and ends an alert of this machine's. */
  check(): Promise<void>;
}

/**
 * @param options.host This machine's name.
 * @param options.alertAfterMs How far its copy may lie behind the newest.
 */
export function createReplicaHealth(deps: {
  readonly store: FeedsStore; readonly clock: Pick<Clock, "now">; readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void; readonly loaded: () => LoadedData | null;
}, options: { readonly host: string; readonly alertAfterMs: number; readonly operatorTenant: () => Promise<string | null> }): ReplicaHealth {
  const { store, clock, log, published } = deps;
  const { host } = options;
  /** Null: what was reported by a process before is not known. */
  let reported: boolean | null = null;
  return {
    async check() {
      const newest = (await store.list()).reduce((latest, { consumed_at: at }) => (at !== null && at > latest ? at : latest), "");
      const tenantId = await options.operatorTenant();
      if (newest === "" || tenantId === null) return;
      const own = deps.loaded()?.builtAt ?? null;
      const isBad = own === null ? clock.now() - Date.parse(newest) > MISSING_AFTER_MS : Date.parse(newest) - Date.parse(own) > options.alertAfterMs;
      if (isBad === reported) return;
      const data: EventData<"feed_health"> = {
        feed: `cve-database@${host}`.slice(0, 64), title: `CVE database of ${host}`.slice(0, 128), state: isBad ? "raised" : "cleared", problems: isBad ? ["age"] : [],
        severity: "medium",
        message: !isBad ? "it is well again" : `${own === null ? "there is none on this collector" : `it was built ${own}`}, and another collector has one of ${newest}. `
          + "Set feeds.directory to a folder that all collectors share, or import the feeds here as well",
      };
      const { fromSeq } = await store.transaction((trx) => log.append(trx, tenantId, [newEvent("feed_health", data, toInstant(clock.now()))]));
      published(tenantId, fromSeq);
      reported = isBad;
    },
  };
}
