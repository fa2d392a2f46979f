import { join } from "node:path";
import type { CaptureSettings, Reply } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Broker } from "../../broker/broker.ts";
import type { Schema } from "../../db/schema.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import type { ServiceModule } from "../../service-module.ts";
import type { PcapSettings } from "./configuration.ts";
import { createPcapDownloads, type PcapDownloads } from "./downloads.ts";
import { createDirectoryStore } from "./files/capture-store.ts";
import { createErrands } from "./errands/errands.ts";
import { createPcapImport, type ProbeContents } from "./files/import.ts";
import { createPcapRetention } from "./files/retention.ts";
import { createSealedFiles } from "./files/sealed-files.ts";
import { createProbeCommands, type ProbeCommands } from "./probe-commands.ts";
import { createPcapReaction } from "./reaction.ts";
import { createPcapRequests } from "./requests.ts";
import { pcapRoutes } from "./routes.ts";
import { createPcapsService } from "./service.ts";
import { createSiteCaptureSettings } from "./site-settings.ts";
import { createPcapCommandsStore } from "./store/commands-store.ts";
import { createErrandsStore } from "./store/errands-store.ts";
import { createImportStore } from "./store/import-store.ts";
import { createPcapsStore } from "./store/pcaps-store.ts";
import { createPcapRetentionStore } from "./store/retention-store.ts";
import { createSiteSettingsStore } from "./store/settings-store.ts";
import { createPcapWatches } from "./watches.ts";

/** The service of captures, and what others use of it. */
export interface PcapModule extends ServiceModule {
  /** For services that read captures as a download. */
  readonly downloads: PcapDownloads;
  /** For services that ask a probe what its traffic process learned. */
  readonly ask: ProbeCommands["ask"];
  /** The newest captures of an alert, by their ids. */
  readonly capturesOf: (tenantId: string, alertId: string) => Promise<string[]>;
  readonly react: ReturnType<typeof createPcapReaction>["react"];
  /** What is sent to a site's probes; undefined where nothing is set. */
  partFor(siteId: string): Promise<CaptureSettings | undefined>;
  /** A probe has answered a command, which may be another one. */
  replied(probe: { readonly probeId: string }, reply: Reply): Promise<void>;
  /** A probe has connected. */
  online(probe: { readonly tenantId: string; readonly probeId: string }): Promise<void>;
  /** A capture's file has begun to come, has come whole, or is too large for this collector. */
  fileCame(file: { readonly probeId: string; readonly id: string; readonly turn: "begun" | "whole" | "too-large"; readonly words?: string }): Promise<void>;
}

/** As many as files a day: a probe that alerts more often says nothing new. */
const DAY_RECORDS = 2000;
/** What other services show of an alert. */
const MAX_OF_ALERT = 20;

/** @param deps.contents Files of probes that lie on this machine. */
export function openPcap(
  { data_dir: dataDir, pcap: settings }: { readonly data_dir: string; readonly pcap: PcapSettings },
  deps: {
    readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly sealing: Sealing; readonly audit: Audit; readonly clock: Clock;
    readonly log: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void; readonly logger: Log;
    readonly broker: Pick<Broker, "publish">; readonly contents: () => ProbeContents; readonly onConfigured: (siteId: string) => Promise<void>;
  },
): PcapModule {
  const { clock, audit, logger } = deps;
  const files = createDirectoryStore(settings.directory ?? join(dataDir, "captures"));
  const sealed = createSealedFiles({ store: files, sealing: deps.sealing });
  const [store, commandsStore, importStore, retentionStore] = [createPcapsStore(deps), createPcapCommandsStore(deps), createImportStore(deps), createPcapRetentionStore(deps)];
  const commands = createProbeCommands({ store: commandsStore, broker: deps.broker, clock, log: logger });
  const errandsStore = createErrandsStore(deps);
  const errands = createErrands({ store: errandsStore, commands, clock, random: Math.random, log: logger });
  const siteSettings = createSiteCaptureSettings({ store: createSiteSettingsStore(deps), pcaps: store, audit, onConfigured: deps.onConfigured });
  const retention = createPcapRetention({ store: retentionStore, audit, onRun: async () => (await errandsStore.probes()).forEach((probe) => errands.tell(probe)), files, settings, clock, log: logger });
  const imports = createPcapImport({
    store: importStore, files, sealed, contents: deps.contents, log: deps.log, published: deps.published, clock, logger,
    onStored: async (siteId) => void (await retention.fit(siteId)),
  });
  const pcaps = createPcapsService({ store, files, errands, audit, clock, keepLockedMegabytes: settings.keep_locked_megabytes });
  const reaction = createPcapReaction({ quota: { dayRecords: DAY_RECORDS, records: settings.keep_records }, nudge: imports.nudge });
  const downloads = createPcapDownloads({ store, sealed, settings: siteSettings, commands, audit, clock, log: logger });
  return {
    name: "pcap", mount: "gateway",
    routes: [pcapRoutes({
      pcaps, settings: siteSettings,
      requests: createPcapRequests({ store, commandsStore, commands, audit, clock, log: logger }),
      downloads,
      watches: createPcapWatches({ store: commandsStore, pcaps: store, commands, settings: siteSettings, audit, clock }),
    })],
    downloads, capturesOf: (tenantId, alertId) => pcaps.newestOfAlert(tenantId, alertId, MAX_OF_ALERT), ask: commands.ask,
    reactions: { pcaps: reaction }, react: reaction.react,
    jobs: [imports.job], retention: [retention.job],
    metrics: [
      { name: "lanthorn_captures", help: "Captures of packets by state", label: "state", read: () => retentionStore.byState() },
      { name: "lanthorn_capture_bytes", help: "Bytes of captures that are stored", read: () => retentionStore.storedBytes() },
      { name: "lanthorn_capture_reports_refused", help: "Reports of captures that were refused, beyond a probe's quota or under another's id", read: () => retentionStore.refused() },
    ],
    partFor: siteSettings.partFor, replied: commands.replied, close: errands.close,
    online: (probe) => Promise.resolve(errands.tell(probe)),
    async fileCame({ probeId, id, turn, words = "" }) {
      const at = toInstant(clock.now());
      const noted = turn === "too-large" ? importStore.backAtProbe(probeId, id, `the collector did not take the file: ${words}`.slice(0, 512), at) : importStore.uploading(probeId, id, at);
      await noted
        .catch((error: unknown) => logger.warn({ pcap_id: id, reason: describeError(error) }, "it could not be noted that a capture comes"));
      if (turn === "whole") imports.nudge();
    },
  };
}
