import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../lab/wait-for.ts";

/** A small file system in memory, in a mount namespace of its own: whoever is to see it is run through `through`. */
export interface SmallDisk {
  readonly path: string;
  readonly through: readonly string[];
  /** Takes all the room that is left. */
  fill(): void;
  /** Gives that room back. */
  free(): void;
  close(): Promise<void>;
}

const CHUNK = Buffer.alloc(4096);

/** @param path A folder that is not there yet. */
export async function createSmallDisk(path: string, megabytes: number): Promise<SmallDisk> {
  mkdirSync(path, { recursive: true });
  const script = 'mount -t tmpfs -o "size=$1m,mode=755" tmpfs "$2" && echo mounted && exec sleep infinity';
  const command = ["--pdeathsig", "KILL", "unshare", "--mount", "sh", "-c", script, "sh", String(megabytes), path];
  const holder: ChildProcess = spawn("setpriv", command, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  holder.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await waitFor("a small disk", () => (said.includes("mounted") ? true : null));
  /** The same folder, as it is there. */
  const filler = join(`/proc/${holder.pid}/root`, path, "filler");
  return {
    path,
    through: ["nsenter", `--mount=/proc/${holder.pid}/ns/mnt`],
    fill() {
      const file = openSync(filler, "a");
      try {
        for (;;) writeSync(file, CHUNK);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler),
    async close() {
      const ended = once(holder, "exit");
      holder.kill("SIGKILL");
      await ended;
    },
  };
}
