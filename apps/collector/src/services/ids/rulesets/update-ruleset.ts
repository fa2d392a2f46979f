import { createHash } from "node:crypto";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { MAX_IDS_VERSIONS } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import { FileRefused } from "../rules/file-refused.ts";
import type { RulesThread } from "../rules/rules-thread.ts";
import type { RulesetRow, RulesetsStore } from "./store.ts";

/** Downloads a file, if it is not the one that `validators` are of: null then. It goes nowhere where the deployment does not allow. */
export type FetchFile = (request: {
  readonly url: string; readonly path: string; readonly name: string; readonly maxBytes: number;
  readonly validators: { readonly etag?: string; readonly lastModified?: string };
  readonly onBytes: (bytes: number, total: number | null) => void; readonly stop: AbortSignal;
}) => Promise<{ readonly file: { readonly path: string }; readonly validators: { readonly etag?: string; readonly lastModified?: string } } | null>;

/** What an update needs. */
export interface UpdateDependencies {
  readonly store: RulesetsStore;
  readonly thread: Pick<RulesThread, "ask">;
  readonly fetchFile: FetchFile;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly random: () => number;
  /** Where operators put files of rules. */
  readonly directory: string;
  /** After a version became active. */
  readonly onChanged: () => void;
}

const MAX_BYTES = 64_000_000;
const MAX_CHECKSUM_BYTES = 65_536;
const HOUR_MS = 3_600_000;
const FIRST_RETRY_MS = 600_000;
const MAX_ERROR = 500;

/**
 * Asks the source of a rule set, and takes what is new as a version. What came of it is written down, and when it is due again.
 * @returns Whether it went well. @throws What the database throws.
 */
export async function updateRuleset(deps: UpdateDependencies, row: RulesetRow, stop: AbortSignal): Promise<boolean> {
  const { store, clock, log, random } = deps;
  try {
    const got = row.kind === "url" ? await download(deps, row, stop) : await readOwnFile(deps, row);
    if (got) await takeVersion(deps, row, { bytes: got.bytes, name: row.place });
    const next = toInstant(clock.now() + row.interval_hours * HOUR_MS * (0.9 + 0.2 * random()));
    await store.set(null, row.id, {
      checked_at: toInstant(clock.now()), next_at: next, failures: 0, error: null, ...(got && { validators: JSON.stringify(got.validators) }),
    });
    return true;
  } catch (error) {
    if (stop.aborted) return false;
    const reason = describeError(error).slice(0, MAX_ERROR);
    // Longer each time, at random, so that a source that comes back does not meet everybody at once.
    const wait = Math.min(row.interval_hours * HOUR_MS, FIRST_RETRY_MS * 2 ** Math.min(row.failures, 10)) * (0.5 + 0.5 * random());
    const retryAfter = (error as { readonly retryAfterMs?: unknown }).retryAfterMs;
    const at = clock.now() + Math.max(wait, typeof retryAfter === "number" ? retryAfter : 0);
    log.warn({ ruleset: row.name, reason }, "a rule set could not be updated; its active version stays");
    await store.set(null, row.id, { failures: row.failures + 1, error: reason, next_at: toInstant(at) });
    return false;
  }
}

/**
 * Reads rules and keeps them as the newest version, unless they say what the active one says. It becomes active by itself where the rule
 * set is automatic, and has at least half of the rules that are enabled now.
 * @throws FileRefused
 */
export async function takeVersion(deps: Pick<UpdateDependencies, "store" | "thread" | "clock" | "onChanged">, row: RulesetRow, published: { readonly bytes: Uint8Array; readonly name: string }): Promise<void> {
  const { store, thread, clock } = deps;
  const refs = row.active_version === null ? [] : [{ rulesetId: row.id, version: row.active_version }];
  const { content, digest, counts, diff } = await thread.ask("read", refs, published);
  let isActive = false;
  await store.locked(row.tenant_id, async (trx) => {
    const current = await store.byId(trx, row.tenant_id, row.id);
    if (!current) return;
    const versions = await store.versions(trx, row.id);
    const active = versions.find(({ version }) => version === current.active_version);
    if (active?.digest === digest || versions[0]?.digest === digest) return;
    const isHeld = active !== undefined && counts.enabled * 2 < active.enabled;
    isActive = row.kind === "local" || (current.is_automatic === 1 && !isHeld);
    const now = toInstant(clock.now());
    const version = current.last_version + 1;
    await store.addVersion(trx, {
      ruleset_id: row.id, version, digest, is_held: isHeld && !isActive ? 1 : 0,
      note: isHeld ? `it has ${counts.enabled} enabled rules, version ${active.version} has ${active.enabled}${isActive ? "" : ": it is held back"}` : "",
      bytes: content.length, ...counts, ...diff, created_at: now, activated_at: isActive ? now : null,
    }, content);
    await store.set(trx, row.id, { last_version: version, ...(isActive && { active_version: version }) });
    const activeVersion = isActive ? version : current.active_version;
    const kept = new Set([version, ...versions.map((one) => one.version)].filter((one) => one !== activeVersion).slice(0, MAX_IDS_VERSIONS - 1));
    for (const one of versions) {
      if (one.version !== activeVersion && !kept.has(one.version)) await store.removeVersion(trx, { rulesetId: row.id, version: one.version });
    }
  });
  if (isActive) deps.onChanged();
}

interface Got {
  readonly bytes: Uint8Array;
  readonly validators: { readonly etag?: string; readonly lastModified?: string };
}

async function download({ fetchFile, directory }: UpdateDependencies, row: RulesetRow, stop: AbortSignal): Promise<Got | null> {
  const folder = join(directory, ".downloads");
  await mkdir(folder, { recursive: true, mode: 0o750 });
  const path = join(folder, row.id);
  const ask = (url: string, place: string, maxBytes: number, validators: Got["validators"]) =>
    fetchFile({ url, path: place, name: "rules", maxBytes, validators, onBytes: () => {}, stop });
  // What is not here is asked for whole, whatever the source said before.
  const got = await ask(row.place, path, MAX_BYTES, row.last_version === 0 ? {} : (JSON.parse(row.validators) as Got["validators"]));
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

async function readOwnFile({ directory }: UpdateDependencies, { place, validators }: RulesetRow): Promise<Got | null> {
  const file = await open(join(directory, place), "r").catch((cause: unknown) => {
    throw new FileRefused(`${place} cannot be read in ${directory}`, { cause });
  });
  try {
    const { size, mtimeMs } = await file.stat();
    if (size > MAX_BYTES) throw new FileRefused(`${place} has more than ${MAX_BYTES / 1e6} MB`);
    const mark = { etag: `${size}-${mtimeMs}` };
    return (JSON.parse(validators) as Got["validators"]).etag === mark.etag ? null : { bytes: await file.readFile(), validators: mark };
  } finally {
    await file.close();
  }
}
