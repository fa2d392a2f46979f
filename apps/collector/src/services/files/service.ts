import { createHash } from "node:crypto";
import { type FileBegin, type FileProgress, type FileRefusal, PIECE_MAX_BYTES } from "@lanthorn/contract";
import { type Log, toInstant } from "@lanthorn/runtime";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { type FileExpiry, fileExpiry, type FileExpiryDependencies } from "./expiry.ts";
import { createProbeTurns, type ProbeTurnsDependencies, type Sender } from "./probe-turns.ts";
import { checkQuota } from "./quota.ts";
import { conflict, givenUp, MAX_ATTEMPTS } from "./refusals.ts";
import type { FileRow } from "./store.ts";

/** Takes files from probes, piece by piece. Whatever ends at any moment, the offset that is answered is on the disk. */
export interface FilesService extends FileExpiry {
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
}

/** What has become of a file: `words` say why it is not taken. */
export type FileTurn = { readonly turn: "begun" | "whole" } | { readonly turn: "too-large"; readonly words: string };

interface Dependencies extends ProbeTurnsDependencies, FileExpiryDependencies {
  /** Called when a file has begun to come, has come whole, or is too large for this collector. It must not reject. */
  readonly onFile: (file: { readonly probeId: string; readonly id: string; readonly kind: string } & FileTurn) => Promise<void>;
  readonly log: Log;
}

/** @param deps.serial Keeps two requests about one file apart, in this process. */
export function createFilesService(deps: Dependencies): FilesService {
  const { store, folder, clock } = deps;
  const now = () => toInstant(clock.now());
  const alone = createProbeTurns(deps);

  /** What is on the disk for certain: a row may be ahead of the file after a restore, the file ahead of the row after a crash. */
  async function offsetOf(row: FileRow): Promise<number> {
    if (isWhole(row)) return row.size;
    return Math.min(row.received, await folder.size({ probeId: row.probe_id, id: row.id }));
  }

  async function progressOf(row: FileRow): Promise<FileProgress> {
    return { id: row.id, state: isWhole(row) ? "received" : "open", offset: await offsetOf(row) };
  }

  async function findOpen(probe: Sender, id: string): Promise<FileRow> {
    const row = await store.find(probe.id, id);
    if (!row) throw notFound("file of this probe: begin it first");
    if (row.state === "failed") throw givenUp();
    return row;
  }

  return {
    ...fileExpiry(deps),

    begin: (probe, file) => alone(probe, async (tenantId) => {
      const row = await store.find(probe.id, file.id);
      if (row) {
        if (row.kind !== file.kind || row.size !== file.size || row.sha256 !== file.sha256) {
          throw conflict("other-file", "another file was begun under this id; use a new id");
        }
        if (row.state === "failed") throw givenUp();
        return progressOf(row);
      }
      await checkQuota(probe.id, file, deps).catch(async (error: unknown) => {
        if (error instanceof ApiError && error.status === 413) await deps.onFile({ probeId: probe.id, id: file.id, kind: file.kind, turn: "too-large", words: error.message });
        throw error;
      });
      await store.insert({ id: probe.id, tenantId }, file, now());
      await deps.onFile({ probeId: probe.id, id: file.id, kind: file.kind, turn: "begun" });
      return { id: file.id, state: "open", offset: 0 };
    }),

    piece: (probe, id, { offset, sha256 }, body) => alone(probe, async () => {
      const row = await findOpen(probe, id);
      const have = await offsetOf(row);
      if (isWhole(row) || offset !== have) throw conflict("wrong-offset", `go on at ${have}`, { offset: have });
      const piece = await body();
      checkPiece(piece, { offset: have, left: row.size - have, sha256 });
      await folder.write({ probeId: probe.id, id }, have, piece);
      await store.update(probe.id, id, { received: have + piece.length }, now());
      return { id, state: "open", offset: have + piece.length };
    }),

    finish: (probe, id) => alone(probe, async () => {
      const row = await findOpen(probe, id);
      if (isWhole(row)) return progressOf(row);
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
      await deps.onFile({ probeId: probe.id, id, kind: row.kind, turn: "whole" });
      return { id, state: "received", offset: row.size };
    }),
  };
}

/** Whether it came whole; `taken`: a capture was made of it, and its content is there. */
function isWhole({ state }: FileRow): boolean {
  return state === "received" || state === "taken";
}

/** @param at.left How much of the file is missing. @throws ApiError BAD_REQUEST for one that is too long, or damaged. */
function checkPiece(piece: Uint8Array, at: { readonly offset: number; readonly left: number; readonly sha256: string }): void {
  const refuse = (reason: FileRefusal, message: string) => new ApiError("BAD_REQUEST", message, { details: { reason, offset: at.offset } });
  if (piece.length === 0 || piece.length > PIECE_MAX_BYTES || piece.length > at.left) {
    throw refuse("piece-too-long", `a piece has 1 to ${PIECE_MAX_BYTES} bytes and ends where the file ends`);
  }
  if (createHash("sha256").update(piece).digest("hex") !== at.sha256) {
    throw refuse("piece-damaged", "the piece is not what its SHA-256 says; send it again");
  }
}
