import { createWriteStream, rmSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CliError } from "./errors.ts";

/**
 * Writes a download to a file that is not there yet; what was written of one that breaks off is removed.
 * @throws CliError `file`.
 */
export async function saveFile(file: string, from: unknown): Promise<void> {
  const to = createWriteStream(file, { flags: "wx", mode: 0o600 });
  let isMine = false;
  to.on("open", () => (isMine = true));
  try {
    await pipeline(Readable.fromWeb(from as Parameters<typeof Readable.fromWeb>[0]), to);
  } catch (cause) {
    if (isMine) rmSync(file, { force: true });
    throw new CliError("file", `cannot write ${file}`, { cause });
  }
}
