import { createHash } from "node:crypto";
import { createReadStream, existsSync, statSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { ClientError, type PcapBytes, type PcapBytesOptions } from "@lanthorn/client";
import { type Clock, pause } from "@lanthorn/runtime";
import { CliError } from "../errors.ts";

/** What downloading needs. */
export interface PcapGetDependencies {
  readonly read: (options: PcapBytesOptions) => Promise<PcapBytes>;
  readonly clock: Pick<Clock, "after">;
  readonly note: (line: string) => void;
  /** Where `-` writes to. @returns When the bytes were taken. */
  readonly output: (bytes: Uint8Array) => Promise<void>;
}

/** A line that breaks so often without a byte more is down. */
const MAX_TRIES = 5;
const RETRY_MS = 2000;

/**
 * Writes a capture's file: to `FILE.part`, which an interrupted download goes on with, and under its name when its SHA-256 is right; or to the
 * standard output, for `-`.
 * @throws CliError `file` for one that is there already, or that came damaged; ClientError from the collector.
 */
export async function getPcap(file: string, reason: string | undefined, deps: PcapGetDependencies): Promise<{ readonly bytes: number; readonly sha256: string }> {
  if (file !== "-" && existsSync(file)) throw new CliError("file", `${file} is there already`);
  const part = `${file}.part`;
  const target = file === "-" ? null : await open(part, "a+", 0o600);
  try {
    const done = await receive(target, part, reason, deps);
    if (target) {
      await target.sync();
      await rename(part, file);
    }
    return done;
  } finally {
    await target?.close();
  }
}

async function receive(target: FileHandle | null, part: string, reason: string | undefined, deps: PcapGetDependencies) {
  let hash = createHash("sha256");
  let at = 0;
  if (target && statSync(part).size > 0) {
    for await (const chunk of createReadStream(part)) hash.update(chunk as Buffer);
    at = statSync(part).size;
    deps.note(`going on with ${part} at byte ${at}`);
  }
  let [known, tries]: [string | undefined, number] = [undefined, 0];
  for (;;) {
    const before = at;
    try {
      const answer = await deps.read({ from: at, reason, ...(known !== undefined && { sha256: known }) });
      if (answer.kind === "waiting") {
        deps.note(`the file comes from the probe: ${answer.receivedBytes} of ${answer.sizeBytes} bytes`);
        await pause(deps.clock, answer.seconds * 1000);
        continue;
      }
      known = answer.sha256;
      if (answer.from !== at) {
        if (!target) throw new CliError("file", "the file changed at the collector while it was read");
        await target.truncate(0);
        [hash, at] = [createHash("sha256"), 0];
      }
      for await (const chunk of answer.body) {
        hash.update(chunk);
        await (target ? target.appendFile(chunk) : deps.output(chunk));
        at += chunk.length;
      }
      if (at === answer.sizeBytes) return finish(hash.digest("hex"), { at, sha256: answer.sha256, target });
      throw new TypeError("the answer is cut");
    } catch (error) {
      if (!isInterruption(error)) throw await explained(error, at, target);
      tries = at > before ? 1 : tries + 1;
      if (tries >= MAX_TRIES) throw new CliError("file", `the download breaks off at byte ${at} again and again${target ? "; call the same command again to go on" : ""}`, { cause: error });
      deps.note(`the connection was lost at byte ${at}; going on`);
      await pause(deps.clock, RETRY_MS);
    }
  }
}

async function finish(found: string, { at, sha256, target }: { readonly at: number; readonly sha256: string; readonly target: FileHandle | null }) {
  if (found === sha256) return { bytes: at, sha256 };
  await target?.truncate(0);
  throw new CliError("file", `the file came damaged: its SHA-256 is ${found}, not ${sha256}; get it again`);
}

/** A range behind the end: what lies here is of another file, or is whole and damaged. It begins anew at the next call. */
async function explained(error: unknown, at: number, target: FileHandle | null): Promise<unknown> {
  if (!(error instanceof ClientError) || error.status !== 416 || !target) return error;
  await target.truncate(0);
  return new CliError("file", `what was begun has ${at} bytes and the file has not as many; it was another one. Call the same command again`, { cause: error });
}

function isInterruption(error: unknown): boolean {
  return error instanceof ClientError ? error.code === "unreachable" : !(error instanceof CliError) && !isOfDisk(error);
}

function isOfDisk(error: unknown): boolean {
  return ["ENOSPC", "EACCES", "EIO", "EROFS", "EPIPE", "EDQUOT"].includes(String((error as NodeJS.ErrnoException).code));
}
