import { BATCH_MAX_EVENTS } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import type { Configuration } from "../configuration.ts";
import { createFileSender } from "../files/file-sender.ts";
import { createSpool } from "../files/spool.ts";
import { createCollectorRequests } from "../identity/collector-requests.ts";
import type { Identity } from "../identity/identity.ts";
import type { Outbox } from "../queue/outbox.ts";

/** What goes between the probe and its collector by HTTPS, beside events and after them. */
export interface Transfers {
  close(): Promise<void>;
}

/** Opens the way for files. @param deps.identity As it is now: a renewed certificate is used for the next request. */
export function openTransfers(deps: {
  readonly configuration: Pick<Configuration, "data_dir" | "files" | "collector">;
  readonly identity: () => Identity;
  readonly outbox: Pick<Outbox, "state">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}): Transfers {
  const { configuration: { data_dir: dataDir, files, collector }, outbox } = deps;
  const requests = createCollectorRequests({ identity: deps.identity, collectorUrl: collector.url });
  const sender = createFileSender({
    ...deps, requests, spool: createSpool({ dataDir, budgetBytes: files.disk_budget_bytes }), bytesPerSecond: files.bytes_per_second,
    // More than the next batch takes with it.
    hasBacklog: () => outbox.state().events > BATCH_MAX_EVENTS,
  });
  return {
    async close() {
      await sender.close();
      requests.close();
    },
  };
}
