import type { Writable } from "node:stream";
import { describeError } from "../errors.ts";

/** The parts of a process that this needs. */
export interface OutputProcess {
  readonly stdout: Pick<Writable, "on">;
  readonly stderr: { write(text: string): unknown };
  exit(code: number): void;
}

/**
 * Ends a command whose output nobody takes any more: without an error where its reader has enough, as `head` has; else, as on a full disk,
 * it says why and exits with 1.
 * @param program Its name, for the message.
 */
export function endWithOutput(program: string, { stdout, stderr, exit }: OutputProcess = process): void {
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return exit(0);
    stderr.write(`${program}: the output could not be written: ${describeError(error)}\n`);
    exit(1);
  });
}
