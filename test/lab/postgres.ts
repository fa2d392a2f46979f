import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type DebianRoot, unpackDebianPackages } from "./debian-packages.ts";
import { LabError } from "./errors.ts";
import { findFreePort } from "./free-port.ts";
import { runCommand, tryCommand } from "./run-command.ts";

/** A PostgreSQL server on loopback with a data folder of its own, under a user who is not root. */
export interface PostgresServer {
  readonly port: number;
  readonly pid: () => number;
  /** The user may make databases, and owns those it makes; more it may not. */
  urlOf(database: string): string;
  createDatabase(name: string): Promise<void>;
  /** Ends it: `fast` after ending every connection in order, `immediate` as a power cut does. The data stays. */
  stop(mode: "fast" | "immediate"): Promise<void>;
  /** Starts it again at the same port, and waits until it takes connections. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  close(): Promise<void>;
}

const USER = "lanthorn";
const MIN_VERSION = 15;
const START_TIMEOUT_MS = 300_000;

/** Debian's `nobody` and `nogroup`: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;

/** A server that is thrown away at the end need not survive a power cut, and starts and commits several times as fast. */
const FORGETFUL = ["fsync=off", "full_page_writes=off", "autovacuum=off"];

/**
 * Makes a server with the machine's own PostgreSQL, else with Debian's packages unpacked. It ends when this process ends, however
 * that does.
 * @param options.isDurable Whether commits are to be on the disk when they return, for what measures or kills; else the fastest.
 * @throws LabError `packages` where there is no PostgreSQL to be had, `postgres` when it does not start.
 */
export async function startPostgres(options: { readonly isDurable?: boolean } = {}): Promise<PostgresServer> {
  const programs = await findPostgresPrograms();
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-postgres-"));
  if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY);
  const data = join(folder, "data");
  const log = join(folder, "log");
  const run = (name: string, args: readonly string[]) => {
    const [path, ...rest] = [...unprivileged(), join(programs.folder, name), ...args];
    return runCommand(path as string, rest, { env: programs.env, cwd: folder });
  };
  let child: ReturnType<typeof spawn> | null = null;

  const start = async () => {
    const settings = [
      "listen_addresses=127.0.0.1", `port=${port}`, `unix_socket_directories=${folder}`, "max_connections=300", "jit=off",
      ...(options.isDurable ? [] : FORGETFUL),
    ];
    // In one command: who becomes another user loses the signal that was asked for before.
    const args = [
      "--pdeathsig", "KILL", ...unprivileged().slice(1), join(programs.folder, "postgres"), "-D", data,
      ...settings.flatMap((one) => ["-c", one]),
    ];
    const output = openSync(log, "a");
    const started = spawn("setpriv", args, {
      env: { ...process.env, ...programs.env, LC_ALL: "C" }, cwd: folder, stdio: ["ignore", output, output],
    });
    closeSync(output);
    child = started;
    const isUp = async () => (await tryCommand(
      join(programs.folder, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(port)], { env: programs.env },
    )).code === 0;
    for (const end = performance.now() + START_TIMEOUT_MS; !(await isUp()); await pause(50)) {
      if (started.exitCode === null && performance.now() < end) continue;
      throw new LabError("postgres", `PostgreSQL does not start: ${readFileSync(log, "utf8").trim().split("\n").slice(-5).join("\n")}`);
    }
  };
  const stop = async (signal: "SIGINT" | "SIGQUIT") => {
    const running = child;
    child = null;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, "exit");
    running.kill(signal);
    await ended;
  };
  const close = async () => {
    await stop("SIGQUIT");
    rmSync(folder, { recursive: true, force: true });
  };

  let port = 0;
  try {
    await run("initdb", [
      "-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C", "--auth=trust", ...(options.isDurable ? [] : ["--no-sync"]),
    ]);
    // Whoever else is on the machine reaches the port, but not the folder: the port is for a user who may do little.
    writeFileSync(join(data, "pg_hba.conf"), `local all all trust\nhost all ${USER} 127.0.0.1/32 trust\n`);
    port = await findFreePort();
    await start();
    await run("createuser", ["-h", folder, "-p", String(port), "-U", "postgres", "--createdb", USER]);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    port,
    pid: () => child?.pid ?? 0,
    urlOf: (database) => `postgres://${USER}@127.0.0.1:${port}/${database}`,
    createDatabase: async (name) => void (await run("createdb", ["-h", "127.0.0.1", "-p", String(port), "-U", USER, name])),
    stop: (mode) => stop(mode === "fast" ? "SIGINT" : "SIGQUIT"),
    start,
    close,
  };
}

/** PostgreSQL's own programs. */
export interface PostgresPrograms {
  /** With `initdb`, `postgres`, `pg_dump` and the rest. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The machine's own, else Debian's packages unpacked. @throws LabError `packages` where there are none to be had. */
export async function findPostgresPrograms(): Promise<PostgresPrograms> {
  const own = programsBelow("/");
  if (own !== null) return { folder: own, env: {} };
  const debian = await unpackFirst([`postgresql-${MIN_VERSION}`, "postgresql-17"]);
  const folder = programsBelow(debian.root);
  if (folder === null) throw new LabError("packages", `no PostgreSQL ${MIN_VERSION} in ${debian.root}`);
  return { folder, env: debian.env };
}

/** Debian 12 has the first, Debian 13 the second. */
async function unpackFirst([name, ...others]: readonly string[]): Promise<DebianRoot> {
  try {
    return await unpackDebianPackages([name as string]);
  } catch (error) {
    if (others.length === 0) throw error;
    return unpackFirst(others);
  }
}

/** The oldest version that will do, since what runs there runs on later ones. */
function programsBelow(root: string): string | null {
  const folder = join(root, "usr/lib/postgresql");
  if (!existsSync(folder)) return null;
  const versions = readdirSync(folder).map(Number).filter((version) => version >= MIN_VERSION).toSorted((a, b) => a - b);
  return versions.map((version) => join(folder, String(version), "bin")).find((bin) => existsSync(join(bin, "postgres"))) ?? null;
}

/** What goes before a command of root's. It may still read, so that programs unpacked below root's own folder run. */
function unprivileged(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  const capabilities = [
    "--bounding-set", "-all,+dac_read_search", "--inh-caps", "-all,+dac_read_search", "--ambient-caps", "-all,+dac_read_search",
  ];
  return ["setpriv", "--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups", ...capabilities];
}
