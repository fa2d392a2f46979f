import { Id, Instant } from "@lanthorn/contract";
import * as z from "zod";

/** Files of a backup by their names. What a restore needs beside the database lies below `files/`. */
export const MANIFEST_NAME = "manifest.json";
/** The copy of the database: a SQLite file, or a dump of pg_dump in its custom format. */
export const DATABASE_NAME = "database";
/** Prefix of the data directory's files, with its slash. No file lies in a folder below it. */
export const FILES_FOLDER = "files/";

/** Of a file of the data directory: no folder, nothing hidden, nothing that a shell would take for something else. */
export const FILE_NAME = /^[a-z\d][\w.-]{0,99}$/i;
/** Keys and certificates are far smaller; whatever is larger is no part of the data directory that a restore needs. */
export const MAX_FILE_BYTES = 1024 * 1024;

const Count = z.int().min(0);
/** In hexadecimal. Those of format 1 have none. */
const Sha256 = z.string().regex(/^[\da-f]{64}$/).optional();

/** What a backup says of itself: enough to know after a restore whether all of it is there. */
export const Manifest = z.object({
  /** 1 was not signed, and had the keys. */
  format: z.union([z.literal(1), z.literal(2)]),
  /** Whether the deployment's own keys are among the files. */
  keys: z.enum(["included", "left-out"]).default("included"),
  backup_id: Id,
  created_at: Instant,
  /** Of the collector that made it. */
  version: z.string().max(64),
  database: z.object({
    engine: z.enum(["sqlite", "postgres"]),
    size_bytes: Count,
    sha256: Sha256,
    /** Names, in their order. */
    migrations: z.array(z.string().max(255)).max(10_000),
    /** Rows of each table. */
    tables: z.record(z.string().max(255), Count),
  }),
  files: z.array(z.object({ name: z.string().regex(FILE_NAME), size_bytes: Count.max(MAX_FILE_BYTES), sha256: Sha256 })).max(1000),
});
export type Manifest = z.infer<typeof Manifest>;

/** The database that a backup was made of. A backup restores only into the same kind. */
export type Engine = Manifest["database"]["engine"];

/** A copy of a database, and what it holds. */
export interface DatabaseCopy {
  readonly file: string;
  readonly engine: Engine;
  readonly migrations: readonly string[];
  readonly tables: Readonly<Record<string, number>>;
}

/** Rows of all tables together. @param tables Rows by table name. */
export function countRows(tables: Readonly<Record<string, number>>): number {
  return Object.values(tables).reduce((sum, rows) => sum + rows, 0);
}
