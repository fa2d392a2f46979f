import * as z from "zod";
import { Id } from "../values.ts";

/**
 * Files that a probe sends up: by HTTPS with its client certificate, in pieces, beside its events. The offset that the collector answers
 * is always what it has on its disk, so either side may end at any moment and goes on from there.
 */

/** What a file may be. */
export const FILE_KINDS = ["capture", "transcript"] as const;
/** One of `FILE_KINDS`. */
export type FileKind = (typeof FILE_KINDS)[number];

/** Largest piece of a file, in bytes: the largest body of any request. */
export const PIECE_MAX_BYTES = 1024 * 1024;
/** Largest file that any configuration of a collector takes, in bytes. */
export const FILE_MAX_BYTES = 64 * 1024 * 1024 * 1024;

/** SHA-256 in lower-case hexadecimal. @see FIPS 180-4 */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hexadecimal digits");

/** Begins to send a file, or goes on with it. The same `id` always names the same file. */
export const FileBegin = z.strictObject({
  id: Id.describe("The file's id, which the probe has made. It is the probe's own: another probe's file may have the same."),
  kind: z.enum(FILE_KINDS).describe("What the file is."),
  size: z.int().min(1).max(FILE_MAX_BYTES).describe("Size of the whole file, in bytes."),
  sha256: Sha256.describe("SHA-256 of the whole file, in lower-case hexadecimal."),
});
export type FileBegin = z.infer<typeof FileBegin>;

/** How far a file is. */
export const FileProgress = z.object({
  id: Id.describe("The file's id."),
  state: z.enum(["open", "received"]).describe("`open`: parts are missing, or the end was not asked for. `received`: it is whole and verified."),
  offset: z.int().min(0).describe("How many bytes of it are on the collector's disk. The next piece begins here."),
});
export type FileProgress = z.infer<typeof FileProgress>;

/** Which piece of a file a body is. */
export const FilePieceQuery = z.object({
  offset: z.coerce.number().int().min(0).max(FILE_MAX_BYTES).describe("Where in the file the piece begins: the `offset` of the last answer."),
  sha256: Sha256.describe("SHA-256 of the piece, in lower-case hexadecimal."),
});

/** Why a file, or a piece of it, is not taken; in `error.details.reason`. */
export const FILE_REFUSALS = [
  /** `error.details.offset` says where to go on. */
  "wrong-offset",
  "piece-damaged", "piece-too-long", "not-whole",
  /** The whole is not what its SHA-256 says; it is to be sent again from `error.details.offset`. */
  "file-damaged",
  /** It was damaged too often: this id can no longer be used. */
  "given-up",
  "other-file", "file-too-large", "too-many-open", "day-quota", "kept-quota", "disk-full",
] as const;
/** One of `FILE_REFUSALS`. */
export type FileRefusal = (typeof FILE_REFUSALS)[number];
