import { type FileBegin, type FileRefusal } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import { ApiError } from "../../gateway/errors.ts";
import type { FileSettings } from "./configuration.ts";
import type { FileFolder } from "./folder.ts";
import { diskFull, refuse } from "./refusals.ts";
import type { FilesStore } from "./store.ts";

/** A probe sends one file after the other; a second program on it may send too. */
const MAX_OPEN = 4;
const MAX_FILES_A_DAY = 2000;
/** Left for the database and the log. */
const RESERVE_BYTES = 256 * 1024 * 1024;
const DAY_MS = 86_400_000;

/**
 * Whether a probe may begin a file of this size.
 * @throws ApiError 413 for a file that is too large; 429 over a quota; SERVICE_UNAVAILABLE where the disk is full.
 */
export async function checkQuota(
  probeId: string, { size }: FileBegin,
  { store, folder, settings, clock }: {
    readonly store: Pick<FilesStore, "use">; readonly folder: Pick<FileFolder, "free">; readonly settings: FileSettings;
    readonly clock: Pick<Clock, "now">;
  },
): Promise<void> {
  const bytes = (megabytes: number) => megabytes * 1e6;
  if (size > bytes(settings.max_megabytes)) {
    throw new ApiError("BAD_REQUEST", `a file may have ${settings.max_megabytes} MB here (files.max_megabytes)`, {
      status: 413, details: { reason: "file-too-large" satisfies FileRefusal },
    });
  }
  const use = await store.use(probeId, toInstant(clock.now() - DAY_MS));
  if (use.open >= MAX_OPEN) throw refuse("too-many-open", `${MAX_OPEN} files of this probe are unfinished; finish one of them first`);
  if (use.dayFiles >= MAX_FILES_A_DAY || use.dayBytes + size > bytes(settings.day_megabytes)) {
    throw refuse("day-quota", "this probe has sent as much as it may in 24 hours (files.day_megabytes); try again later");
  }
  if (use.keptBytes + size > bytes(settings.keep_megabytes)) {
    throw refuse("kept-quota", "this probe has as many bytes here as it may (files.keep_megabytes); try again when older files have gone");
  }
  if ((await folder.free()) < size + RESERVE_BYTES) throw diskFull();
}
