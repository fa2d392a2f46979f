import { createHash } from "node:crypto";
import { type FileBegin, type FileProgress, type FileRefusal, PIECE_MAX_BYTES } from "@lanthorn/contract";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import { isFull } from "../../db/faults.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import type { KeyedQueue } from "../../ingest/keyed-queue.ts";
import type { FileSettings } from "./configuration.ts";
import type { FileFolder } from "./folder.ts";
import type { FileRow, FilesStore } from "./store.ts";

/** The probe at the other end, as its certificate says. */
export interface Sender {
  readonly id: string;
  /** Of its certificate, SubjectPublicKeyInfo in Base64. */
  readonly key: string | undefined;
}

/** Takes files from probes, piece by piece. Whatever ends at any moment, the offset that is answered is on the disk. */
export interface FilesService {
  /**
   * Begins a file, or says how far it is.
   * @throws ApiError UNAUTHORIZED for a probe that is not admitted; 413 for a file that is too large; 429 over a quota; CONFLICT for another
   * file under the same id; SERVICE_UNAVAILABLE where the disk is full.
   */
  begin(probe: Sender, file: FileBegin): Promise<FileProgress>;
  /** @param body Reads the piece; not called for one that is refused at once. @throws ApiError CONFLICT with the offset to go on from. */
  piece(
    probe: Sender, id: string, at: { readonly offset: number; readonly sha256: string }, body: () => Promise<Uint8Array>,
  ): Promise<FileProgress>;
  /** Verifies the whole and keeps it. Asked again, it answers the same. @throws ApiError CONFLICT for one that is not whole or is damaged. */
  finish(probe: Sender, id: string): Promise<FileProgress>;
  /** Takes away what has had its time, and what no row knows. @returns How many files. */
  expire(stopped: AbortSignal): Promise<number>;
}

/** A probe sends one file after the other; a second program on it may send too. */
const MAX_OPEN = 4;
const MAX_FILES_A_DAY = 2000;
/** Requests of one probe at once: each may hold a piece in memory. */
const MAX_IN_FLIGHT = 4;
/** Sent again so often, it is damaged at the probe. */
const MAX_ATTEMPTS = 3;
/** Left for the database and the log. */
const RESERVE_BYTES = 256 * 1024 * 1024;
const DAY_MS = 86_400_000;
const RETRY_SECONDS = 3600;

interface Dependencies {
  readonly store: FilesStore;
  readonly folder: FileFolder;
  /** The tenant of a probe that may come in with this key; null for one that may not. */
  readonly admit: (probeId: string, key: string) => Promise<{ readonly tenantId: string } | null>;
  /** Runs what concerns one probe one after the other. */
  readonly serial: KeyedQueue;
  readonly settings: FileSettings;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** @param deps.serial Keeps two requests about one file apart, in this process. */
export function createFilesService(deps: Dependencies): FilesService {
  const { store, folder, clock } = deps;
  const now = () => toInstant(clock.now());
  const inFlight = new Map<string, number>();

  /** Lets a probe's requests in one at a time, a few waiting. */
  async function alone<T>(probe: Sender, work: (tenantId: string) => Promise<T>): Promise<T> {
    const admitted = probe.key === undefined ? null : await deps.admit(probe.id, probe.key);
    if (!admitted) throw new ApiError("UNAUTHORIZED", "this probe is revoked, or its certificate was replaced: enroll it again");
    const before = inFlight.get(probe.id) ?? 0;
    if (before >= MAX_IN_FLIGHT) throw refuse("too-many-open", "too many requests about files at once; wait for an answer", 5);
    inFlight.set(probe.id, before + 1);
    try {
      let result: { readonly value: T } | null = null;
      await deps.serial.run(probe.id, async () => {
        result = { value: await work(admitted.tenantId) };
      });
      return (result as unknown as { readonly value: T }).value;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOSPC" || isFull(error)) throw diskFull(error);
      throw error;
    } finally {
      const left = (inFlight.get(probe.id) ?? 1) - 1;
      if (left === 0) inFlight.delete(probe.id);
      else inFlight.set(probe.id, left);
    }
  }

  /** What is on the disk for certain: a row may be ahead of the file after a restore, the file ahead of the row after a crash. */
  async function offsetOf(row: FileRow): Promise<number> {
    if (row.state === "received") return row.size;
    return Math.min(row.received, await folder.size({ probeId: row.probe_id, id: row.id }));
  }

  async function progressOf(row: FileRow): Promise<FileProgress> {
    return { id: row.id, state: row.state === "received" ? "received" : "open", offset: await offsetOf(row) };
  }

  async function findOpen(probe: Sender, id: string): Promise<FileRow> {
    const row = await store.find(probe.id, id);
    if (!row) throw notFound("file of this probe: begin it first");
    if (row.state === "failed") throw givenUp();
    return row;
  }

  return {
    begin: (probe, file) => alone(probe, async (tenantId) => {
      const row = await store.find(probe.id, file.id);
      if (row) {
        if (row.kind !== file.kind || row.size !== file.size || row.sha256 !== file.sha256) {
          throw conflict("other-file", "another file was begun under this id; use a new id");
        }
        if (row.state === "failed") throw givenUp();
        return progressOf(row);
      }
      await checkQuota(probe, file, deps);
      await store.insert({ id: probe.id, tenantId }, file, now());
      return { id: file.id, state: "open", offset: 0 };
    }),

    piece: (probe, id, { offset, sha256 }, body) => alone(probe, async () => {
      const row = await findOpen(probe, id);
      const have = await offsetOf(row);
      if (row.state === "received" || offset !== have) throw conflict("wrong-offset", `go on at ${have}`, { offset: have });
      const piece = await body();
      if (piece.length === 0 || piece.length > PIECE_MAX_BYTES || have + piece.length > row.size) {
        throw new ApiError("BAD_REQUEST", `a piece has 1 to ${PIECE_MAX_BYTES} bytes and ends where the file ends`, {
          details: { reason: "piece-too-long" satisfies FileRefusal, offset: have },
        });
      }
      if (createHash("sha256").update(piece).digest("hex") !== sha256) {
        throw new ApiError("BAD_REQUEST", "the piece is not what its SHA-256 says; send it again", {
          details: { reason: "piece-damaged" satisfies FileRefusal, offset: have },
        });
      }
      await folder.write({ probeId: probe.id, id }, have, piece);
      await store.update(probe.id, id, { received: have + piece.length }, now());
      return { id, state: "open", offset: have + piece.length };
    }),

    finish: (probe, id) => alone(probe, async () => {
      const row = await findOpen(probe, id);
      if (row.state === "received") return progressOf(row);
      const name = { probeId: probe.id, id };
      // Before it is read: a probe that asks again and again must not have gigabytes read each time.
      if (await folder.size(name) !== row.size) {
        const offset = await offsetOf(row);
        throw conflict("not-whole", `the file has ${row.size} bytes, and ${offset} are here`, { offset });
      }
      if (await folder.digest(name) !== row.sha256) {
        await folder.remove(name);
        const attempts = row.attempts + 1;
        await store.update(probe.id, id, { received: 0, attempts, state: attempts < MAX_ATTEMPTS ? "open" : "failed" }, now());
        deps.log.warn({ probe_id: probe.id, file_id: id, attempts }, "a file from a probe is not what its SHA-256 says");
        if (attempts >= MAX_ATTEMPTS) throw givenUp();
        throw conflict("file-damaged", "the file is not what its SHA-256 says; send it again", { offset: 0 });
      }
      // In this order: after a crash between the two, the file is found under its name and verified again.
      await folder.finish(name);
      await store.update(probe.id, id, { received: row.size, state: "received" }, now());
      deps.log.info({ probe_id: probe.id, file_id: id, kind: row.kind, bytes: row.size }, "received a file from a probe");
      return { id, state: "received", offset: row.size };
    }),

    async expire(stopped) {
      const ago = (ms: number) => toInstant(clock.now() - ms);
      const { unfinished_hours: hours, keep_days: days } = deps.settings;
      const over = await store.expired({ open: ago(hours * 3_600_000), failed: ago(DAY_MS), received: ago(days * DAY_MS) });
      let count = 0;
      const remove = (name: { readonly probeId: string; readonly id: string }, isOver: (row: FileRow | null) => boolean) =>
        deps.serial.run(name.probeId, async () => {
          if (stopped.aborted || !isOver(await store.find(name.probeId, name.id))) return;
          await folder.remove(name);
          await store.remove(name.probeId, name.id);
          count += 1;
        });
      // One that went on in the meantime stays.
      for (const row of over) {
        await remove({ probeId: row.probe_id, id: row.id }, (current) => current?.updated_at === row.updated_at);
      }
      for (const name of await folder.list()) await remove(name, (current) => current === null || current.state === "failed");
      return count;
    },
  };
}

async function checkQuota(probe: Sender, { size }: FileBegin, { store, folder, settings, clock }: Dependencies): Promise<void> {
  const bytes = (megabytes: number) => megabytes * 1e6;
  if (size > bytes(settings.max_megabytes)) {
    throw new ApiError("BAD_REQUEST", `a file may have ${settings.max_megabytes} MB here (files.max_megabytes)`, {
      status: 413, details: { reason: "file-too-large" satisfies FileRefusal },
    });
  }
  const use = await store.use(probe.id, toInstant(clock.now() - DAY_MS));
  if (use.open >= MAX_OPEN) throw refuse("too-many-open", `${MAX_OPEN} files of this probe are unfinished; finish one of them first`);
  if (use.dayFiles >= MAX_FILES_A_DAY || use.dayBytes + size > bytes(settings.day_megabytes)) {
    throw refuse("day-quota", "this probe has sent as much as it may in 24 hours (files.day_megabytes); try again later");
  }
  if (use.keptBytes + size > bytes(settings.keep_megabytes)) {
    throw refuse("kept-quota", "this probe has as many bytes here as it may (files.keep_megabytes); try again when older files have gone");
  }
  if ((await folder.free()) < size + RESERVE_BYTES) throw diskFull();
}

function conflict(reason: FileRefusal, message: string, details: object = {}): ApiError {
  return new ApiError("CONFLICT", message, { details: { reason, ...details } });
}

function refuse(reason: FileRefusal, message: string, seconds = RETRY_SECONDS): ApiError {
  return new ApiError("RATE_LIMITED", message, { details: { reason }, headers: { "retry-after": String(seconds) } });
}

function givenUp(): ApiError {
  return conflict("given-up", `the file was damaged ${MAX_ATTEMPTS} times; begin it under a new id`);
}

function diskFull(cause?: unknown): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", "the collector's disk has no room for the file; free some, the probe tries again", {
    details: { reason: "disk-full" satisfies FileRefusal }, headers: { "retry-after": "600" }, ...(cause === undefined ? {} : { cause }),
  });
}
