import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { LabError } from "./errors.ts";

/**
 * Runs `work` while no other process on this machine holds the lock of the same file.
 * The kernel frees the lock when the holder dies, however it dies, so none is ever left behind.
 * @param lock.waitSeconds How long to wait for another holder.
 * @throws LabError `busy` when the other one takes longer.
 */
export async function withFileLock<T>(lock: { readonly file: string; readonly waitSeconds: number }, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(lock.file), { recursive: true });
  const release = await takeLock(lock.file, lock.waitSeconds);
  try {
    return await work();
  } finally {
    await release();
  }
}

/** The lock is held by a `flock` child that lives as long as its standard input: Node has no lock call of its own. */
function takeLock(file: string, waitSeconds: number): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    const holder = spawn("/usr/bin/flock", ["--exclusive", "--wait", String(waitSeconds), file, "sh", "-c", "echo held; exec cat"], {
      stdio: ["pipe", "pipe", "ignore"],
      /** Its own process group: Ctrl-C must not free the lock while the work it guards is being undone. */
      detached: true,
    });
    const ended = new Promise<void>((done) => holder.on("close", () => done()));
    holder.stdin.on("error", () => undefined);
    holder.on("error", (cause) => reject(new LabError("busy", "cannot run flock, of the package util-linux", { cause })));
    holder.on("exit", () => reject(new LabError("busy", `${file} is held by another run for more than ${waitSeconds} s`)));
    holder.stdout.once("data", () =>
      resolve(() => {
        holder.stdin.end();
        return ended;
      }),
    );
  });
}
