import type { Clock, Lifecycle, Log } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { createSerial } from "../../ingest/serial.ts";
import { repeatWork } from "../../repeated-work.ts";
import type { FileSettings } from "./configuration.ts";
import { createFileFolder } from "./folder.ts";
import { filesRoutes } from "./routes.ts";
import { createFilesService } from "./service.ts";
import { createFilesStore } from "./store.ts";

const EXPIRE_EVERY_MS = 3_600_000;

/** Files from probes, with what removes them when their time is over. */
export function openFiles(
  { data_dir: dataDir, files: settings }: { readonly data_dir: string; readonly files: FileSettings },
  deps: {
    readonly db: Kysely<Schema>; readonly reads: Kysely<Schema>; readonly clock: Clock; readonly log: Log;
    readonly admit: Parameters<typeof createFilesService>[0]["admit"]; readonly lifecycle: Pick<Lifecycle, "onClose">;
  },
): ReturnType<typeof filesRoutes> {
  const { clock, log } = deps;
  const serial = createSerial();
  const service = createFilesService({
    store: createFilesStore(deps), folder: createFileFolder(dataDir), admit: deps.admit, serial, settings, clock, log,
  });
  const { close } = repeatWork({ clock, log }, {
    everyMs: EXPIRE_EVERY_MS, failure: "old files of probes could not be removed, trying again in an hour", work: service.expire,
  });
  deps.lifecycle.onClose("files of probes", async () => {
    await close();
    await serial.idle();
  });
  return filesRoutes(service);
}
