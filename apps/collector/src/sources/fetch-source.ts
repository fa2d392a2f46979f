/** Asks for what others publish: by a URL with its checksum, or in a file that an operator put into a folder. */
import { createHash } from "node:crypto";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import { FileRefused } from "./file-refused.ts";

/** What a server or a file gave for asking whether anything is new. */
export interface SourceValidators {
  readonly etag?: string;
  readonly lastModified?: string;
}

/** Downloads a file, if it is not the one that `validators` are of: null then. It goes nowhere where the deployment does not allow. */
export type FetchFile = (request: {
  readonly url: string; readonly path: string; readonly name: string; readonly maxBytes: number;
  readonly validators: SourceValidators;
  readonly onBytes: (bytes: number, total: number | null) => void; readonly stop: AbortSignal;
}) => Promise<{ readonly file: { readonly path: string }; readonly validators: SourceValidators } | null>;

/** A source as it is stored: rule sets and block lists have these columns. */
export interface SourceRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
  /** `url`, `file` or `local`. */
  readonly kind: string;
  /** Of `url` the URL, of `file` the file's name. */
  readonly place: string;
  readonly checksum_url: string | null;
  readonly interval_hours: number;
  readonly is_enabled: number;
  readonly last_version: number;
  /** JSON of `SourceValidators`. */
  readonly validators: string;
  readonly checked_at: string | null;
  /** In a row. */
  readonly failures: number;
  readonly error: string | null;
  /** What was last said to be wrong with it, as `feed_health` names it. */
  readonly reported: string;
  readonly created_at: string;
}

/** What came of asking a source. */
export type SourceOutcome = Partial<Pick<SourceRow, "checked_at" | "failures" | "error" | "validators">> & { readonly next_at: string };

/** What a source is asked with. */
export interface SourceDependencies {
  readonly fetchFile: FetchFile;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Log;
  readonly random: () => number;
  /** Where operators put files. */
  readonly directory: string;
  /** Of one file. */
  readonly maxBytes: number;
  /** What it is, in a sentence, as `rule set`. */
  readonly what: string;
  /** Keeps what was published as a version. @throws FileRefused for what is not taken. */
  readonly take: (published: { readonly bytes: Uint8Array; readonly name: string }) => Promise<void>;
  readonly settle: (outcome: SourceOutcome) => Promise<void>;
}

const MAX_CHECKSUM_BYTES = 65_536;
const HOUR_MS = 3_600_000;
const FIRST_RETRY_MS = 600_000;
const MAX_ERROR = 500;
/** From the first question to the last byte, checksum included: a server that trickles is given up, however steadily it does. */
const MAX_DOWNLOAD_MS = 300_000;

/**
 * Asks a source, and has what is new taken. What came of it is settled: also when it is due again.
 * @returns Whether it went well. @throws What `settle` throws.
 */
export async function askSource(deps: SourceDependencies, row: SourceRow, stop: AbortSignal): Promise<boolean> {
  const { clock, log, random, what } = deps;
  try {
    const got = row.kind === "url" ? await downloadInTime(deps, row, stop) : await readOwnFile(deps, row);
    if (got) await deps.take({ bytes: got.bytes, name: row.place });
    const next = toInstant(clock.now() + row.interval_hours * HOUR_MS * (0.9 + 0.2 * random()));
    await deps.settle({ checked_at: toInstant(clock.now()), next_at: next, failures: 0, error: null, ...(got && { validators: JSON.stringify(got.validators) }) });
    return true;
  } catch (error) {
    if (stop.aborted) return false;
    const reason = describeError(error).slice(0, MAX_ERROR);
    // Longer each time, at random, so that a source that comes back does not meet everybody at once.
    const wait = Math.min(row.interval_hours * HOUR_MS, FIRST_RETRY_MS * 2 ** Math.min(row.failures, 10)) * (0.5 + 0.5 * random());
    const retryAfter = (error as { readonly retryAfterMs?: unknown }).retryAfterMs;
    const at = clock.now() + Math.max(wait, typeof retryAfter === "number" ? retryAfter : 0);
    log.warn({ name: row.name, reason }, `a ${what} could not be updated; its active version stays`);
    await deps.settle({ failures: row.failures + 1, error: reason, next_at: toInstant(at) });
    return false;
  }
}

interface Got {
  readonly bytes: Uint8Array;
  readonly validators: SourceValidators;
}

async function downloadInTime(deps: SourceDependencies, row: SourceRow, stop: AbortSignal): Promise<Got | null> {
  const late = new AbortController();
  const cancel = deps.clock.after(MAX_DOWNLOAD_MS, () => late.abort());
  try {
    return await download(deps, row, AbortSignal.any([stop, late.signal]));
  } catch (cause) {
    throw late.signal.aborted && !stop.aborted ? new FileRefused(`its server took more than ${MAX_DOWNLOAD_MS / 60_000} minutes`, { cause }) : cause;
  } finally {
    cancel();
  }
}

async function download({ fetchFile, directory, maxBytes }: SourceDependencies, row: SourceRow, stop: AbortSignal): Promise<Got | null> {
  const folder = join(directory, ".downloads");
  await mkdir(folder, { recursive: true, mode: 0o750 });
  const path = join(folder, row.id);
  const ask = (url: string, place: string, limit: number, validators: Got["validators"]) =>
    fetchFile({ url, path: place, name: row.name, maxBytes: limit, validators, onBytes: () => {}, stop });
  // What is not here is asked for whole, whatever the source said before.
  const got = await ask(row.place, path, maxBytes, row.last_version === 0 ? {} : validatorsOf(row));
  if (got === null) return null;
  try {
    const bytes = await readFile(got.file.path);
    if (row.checksum_url !== null) {
      const sum = await ask(row.checksum_url, `${path}.sum`, MAX_CHECKSUM_BYTES, {});
      if (sum === null) throw new FileRefused("its checksum was not sent");
      try {
        checkSum(bytes, await readFile(sum.file.path, "latin1"));
      } finally {
        await rm(sum.file.path, { force: true });
      }
    }
    return { bytes, validators: got.validators };
  } finally {
    await rm(got.file.path, { force: true });
  }
}

function checkSum(bytes: Uint8Array, text: string): void {
  const [, digest = ""] = /^\s*([0-9a-fA-F]{32}(?:[0-9a-fA-F]{32})?)(?![0-9a-fA-F])/.exec(text.slice(0, 256)) ?? [];
  if (digest === "") throw new FileRefused("its checksum is neither MD5 nor SHA-256 in hexadecimal");
  const own = createHash(digest.length === 32 ? "md5" : "sha256").update(bytes).digest("hex");
  if (own !== digest.toLowerCase()) throw new FileRefused("its checksum differs from the published one");
}

async function readOwnFile({ directory, maxBytes }: SourceDependencies, row: SourceRow): Promise<Got | null> {
  const file = await open(join(directory, row.place), "r").catch((cause: unknown) => {
    throw new FileRefused(`${row.place} cannot be read in ${directory}`, { cause });
  });
  try {
    const { size, mtimeMs } = await file.stat();
    if (size > maxBytes) throw new FileRefused(`${row.place} has more than ${maxBytes / 1e6} MB`);
    const mark = { etag: `${size}-${mtimeMs}` };
    return validatorsOf(row).etag === mark.etag ? null : { bytes: await file.readFile(), validators: mark };
  } finally {
    await file.close();
  }
}

function validatorsOf({ validators }: SourceRow): SourceValidators {
  return JSON.parse(validators) as SourceValidators;
}
