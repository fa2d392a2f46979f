import { BATCH_MAX_EVENTS } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import { type BundleWatch, createBundleWatch } from "../../bundles/bundle-watch.ts";
import { fetchBundle } from "../../bundles/fetch.ts";
import { createFileSender } from "../../files/file-sender.ts";
import { createPace } from "../../files/pace.ts";
import type { FilesSettings } from "../../files/settings.ts";
import { createSpool } from "../../files/spool.ts";
import { createCollectorRequests } from "../../identity/collector-requests.ts";
import type { Identity } from "../../identity/identity.ts";
import type { Outbox } from "../../queue/outbox.ts";
import type { CollectorSettings } from "../../uplink/settings.ts";
import { USED_BUNDLES } from "../bundle-kinds.ts";

/** What goes between the probe and its collector by HTTPS, beside events and after them. */
export interface Transfers {
  readonly bundles: Pick<BundleWatch, "announced" | "failed" | "state">;
  close(): Promise<void>;
}

/**
 * Opens the way for files up and bundles down.
 * @param deps.identity As it is now: a renewed certificate is used for the next request.
 * @param deps.installBundle Tries a bundle that was fetched, and puts it in its place.
 */
export function openTransfers(deps: {
  readonly dataDir: string;
  readonly files: FilesSettings;
  readonly collector: Pick<CollectorSettings, "url">;
  readonly identity: () => Identity;
  readonly outbox: Pick<Outbox, "state">;
  readonly installBundle: (name: string, signal: AbortSignal) => Promise<void>;
  /** Whether there is something here that uses a bundle. */
  readonly isUsed: (name: string) => boolean;
  /** A version of a bundle is in use now, a newer one or the one before. */
  readonly onBundle: (name: string) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}): Transfers {
  const { dataDir, files, collector, identity, outbox } = deps;
  // More than the next batch takes with it.
  const pace = createPace({ ...deps, bytesPerSecond: files.bytes_per_second, hasBacklog: () => outbox.state().events > BATCH_MAX_EVENTS });
  // A connection for each way: a piece of one does not wait for an answer of the other.
  const [up, down] = [createCollectorRequests({ identity, collectorUrl: collector.url }), createCollectorRequests({ identity, collectorUrl: collector.url })];
  const sender = createFileSender({ ...deps, pace, requests: up, spool: createSpool({ dataDir, budgetBytes: files.disk_budget_bytes }) });
  const bundles = createBundleWatch({
    ...deps, names: USED_BUNDLES.map(({ name }) => name).filter(deps.isUsed), dataDir,
    async install(name, signal) {
      await deps.installBundle(name, signal);
      deps.onBundle(name);
    },
    fetch: (name, signal) => fetchBundle({
      ...pace, name, dataDir, signal, requests: down, caCertificate: identity().ca_certificate,
      maxBytes: USED_BUNDLES.find((kind) => kind.name === name)?.maxBytes ?? 0,
    }),
  });
  return {
    bundles,
    async close() {
      await Promise.all([bundles.close(), sender.close()]);
      for (const requests of [up, down]) requests.close();
    },
  };
}
