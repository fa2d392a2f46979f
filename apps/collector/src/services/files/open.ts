import type { Clock, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import { createKeyedQueue } from "../../ingest/commit/keyed-queue.ts";
import { createRetentionJob } from "../../jobs/job.ts";
import type { ServiceModule } from "../../service-module.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import type { FileSettings } from "./configuration.ts";
import { createFileFolder, type FileFolder } from "./folder.ts";
import { createReceivedFiles } from "./received.ts";
import { receivedRoutes } from "./received-routes.ts";
import { filesRoutes } from "./routes.ts";
import { createFilesService, type FileTurn } from "./service.ts";
import { createFilesStore } from "./store.ts";

const EXPIRE_EVERY_MS = 3_600_000;

/** The service of files, and what captures are made of. */
export interface FilesModule extends ServiceModule {
  readonly contents: Pick<FileFolder, "read" | "remove">;
}

/** Files from probes, with what removes them when their time is over. */
export function openFiles(
  { data_dir: dataDir, files: settings }: { readonly data_dir: string; readonly files: FileSettings },
  deps: {
    readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly clock: Clock; readonly log: Log;
    readonly audit: Audit; readonly sealing: Sealing;
    /** A capture has begun to come, has come whole, or is too large. It must not reject. */
    readonly onCapture: (file: { readonly probeId: string; readonly id: string } & FileTurn) => Promise<void>;
    readonly admit: Parameters<typeof createFilesService>[0]["admit"];
  },
): FilesModule {
  const { clock, log } = deps;
  const serial = createKeyedQueue();
  const [store, folder] = [createFilesStore(deps), createFileFolder(dataDir, deps.sealing)];
  const service = createFilesService({
    store, folder, admit: deps.admit, serial, settings, clock, log,
    onFile: async ({ kind, ...file }) => (kind === "capture" ? deps.onCapture(file) : undefined),
  });
  const expiry = createRetentionJob({ clock, log }, {
    name: "file-retention", everyMs: EXPIRE_EVERY_MS, who: "each replica", what: "old files of probes", run: service.expire,
  });
  return { name: "files", mount: "agents", routes: [filesRoutes(service), receivedRoutes(createReceivedFiles({ store, folder, audit: deps.audit }))], retention: [expiry], close: () => serial.idle(), contents: folder };
}
