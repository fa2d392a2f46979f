import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createReadStream, createWriteStream, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { TRIGRAM_INDEX } from "../../db/keys/trigram-index.ts";
import { CollectorError } from "../../errors.ts";
import { forLibpq } from "./libpq.ts";
import { unreadable } from "../format/unreadable.ts";

/**
 * PostgreSQL's `pg_dump` and `pg_restore`. What they read and write goes through this process: when it dies, so do they.
 * @see https://www.postgresql.org/docs/15/app-pgdump.html, app-pgrestore.html
 */
export interface PostgresPrograms {
  /**
   * Writes a database as a snapshot has it, in pg_dump's custom format, uncompressed.
   * @param from.serverVersion Its major version.
   * @throws CollectorError `backup-failed` where pg_dump is missing, older than the server, or fails.
   */
  dump(from: { readonly url: string; readonly snapshot: string; readonly serverVersion: number }, to: string): Promise<void>;
  /**
   * Fills an empty database.
   * @throws CollectorError `backup-unreadable` with what pg_restore says; `backup-failed` where it is missing.
   */
  restore(from: string, to: { readonly url: string }): Promise<void>;
}

type Name = "pg_dump" | "pg_restore";

const MAX_COMPLAINT = 65_536;
/** Only a migration holds a table for long. */
const LOCK_WAIT_MS = 60_000;

/** Where pg_dump and pg_restore are, and which environment variables they inherit. */
export interface ProgramsSettings {
  /** The folder with the programs; without it they are looked for as a shell does. */
  readonly folder?: string | undefined;
  /** What they are to know of this process's own, as the path and `PGPASSFILE`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs pg_dump and pg_restore without a shell. `LANTHORN_*` variables are not passed on, and the password goes by `PGPASSWORD`, not as
 * an argument.
 */
export function createPostgresPrograms({ folder, environment = {} }: ProgramsSettings): PostgresPrograms {
  // The collector's own are secrets, and none of theirs.
  const inherited = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("LANTHORN_")));
  const start = (name: Name, args: readonly string[], url?: string) => {
    const { password } = url === undefined ? {} : forLibpq(url);
    return spawn(folder === undefined ? name : join(folder, name), args, {
      stdio: ["pipe", "pipe", "pipe"], env: { ...inherited, ...(password !== undefined && { PGPASSWORD: password }), LC_ALL: "C" },
    });
  };
  const majorOf = async (name: Name): Promise<number> => {
    const child = start(name, ["--version"]);
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString().slice(0, 200)));
    const { code, complaint } = await ended(name, child);
    const major = /\(PostgreSQL\) (\d+)/.exec(said)?.[1];
    if (code !== 0 || major === undefined) {
      throw new CollectorError("backup-failed", `${name} does not say its version: ${complaint || said}`);
    }
    return Number(major);
  };

  /** Runs pg_restore on a dump. @returns What it prints. */
  const run = async (args: readonly string[], from: string, url?: string): Promise<string> => {
    const child = start("pg_restore", args, url);
    const [how, printed] = await Promise.all([
      ended("pg_restore", child), text(child.stdout),
      // What ends before it has read all says why by how it ends.
      pipeline(createReadStream(from), child.stdin).catch((error: unknown) => {
        if (!isClosedPipe(error)) throw error;
      }),
    ]);
    if (how.code !== 0) throw unreadable(`pg_restore ended with code ${how.code}: ${how.complaint}`);
    return printed;
  };

  return {
    async dump({ url, snapshot, serverVersion }, to) {
      const version = await majorOf("pg_dump");
      if (version < serverVersion) {
        throw new CollectorError(
          "backup-failed", `pg_dump is of version ${version}, older than the server's ${serverVersion}: ${install(serverVersion)}`,
        );
      }
      const child = start("pg_dump", [
        // The archive is compressed as a whole. Extensions are the server's: only its administrator may make them.
        "--format=custom", "--compress=0", "--no-owner", "--no-privileges", "--extension=plpgsql", "--no-password",
        `--lock-wait-timeout=${LOCK_WAIT_MS}`, `--snapshot=${snapshot}`, `--dbname=${forLibpq(url).url}`,
      ], url);
      child.stdin.end();
      const [how] = await Promise.all([
        ended("pg_dump", child), pipeline(child.stdout, createWriteStream(to, { flags: "wx", mode: 0o600 })),
      ]);
      if (how.code !== 0) throw new CollectorError("backup-failed", `pg_dump ended with code ${how.code}: ${how.complaint}`);
    },
    async restore(from, { url }) {
      const contents = await run(["--list"], from);
      const list = `${from}.list`;
      // It needs an extension, which this server may not have; the collector's next start makes it where it can.
      const isLeftOut = (line: string) => line.includes(` INDEX `) && line.includes(` ${TRIGRAM_INDEX} `);
      writeFileSync(list, contents.split("\n").filter((line) => !isLeftOut(line)).join("\n"), { mode: 0o600 });
      try {
        await run([
          "--exit-on-error", "--no-owner", "--no-privileges", "--no-password", `--use-list=${list}`, `--dbname=${forLibpq(url).url}`,
        ], from, url);
      } finally {
        rmSync(list, { force: true });
      }
    },
  };
}

/** Of the server as of its programs. */
const MIN_VERSION = 15;

function install(atLeast: number): string {
  return `install postgresql-client-${atLeast} or later, or set backups.postgres_bin to its directory`;
}

/** Waits for a program's end. @returns How it ended, with the end of what it wrote to standard error. @throws CollectorError `backup-failed` where it did not start. */
function ended(name: Name, child: ChildProcessWithoutNullStreams): Promise<{ readonly code: number | null; readonly complaint: string }> {
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => (complaint = `${complaint}${chunk.toString()}`.slice(-MAX_COMPLAINT)));
  return new Promise((resolve, reject) => {
    child.on("error", (cause: NodeJS.ErrnoException) => {
      const what = cause.code === "ENOENT" ? "is not installed" : "cannot be started";
      reject(new CollectorError("backup-failed", `${name} ${what}: ${install(MIN_VERSION)}`, { cause }));
    });
    child.on("close", (code) => resolve({ code, complaint: complaint.trim() }));
  });
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && [
    "EPIPE", "ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE", "ERR_STREAM_DESTROYED",
  ].includes(String(error.code));
}
