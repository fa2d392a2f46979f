import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { CliError } from "./errors.ts";

/** Where a command gets what is not to stand in its arguments, which everybody on the machine can read. */
export interface Input {
  /** A line without its end; not shown where somebody types it. */
  askSecret(prompt: string): Promise<string>;
  /** All of standard input. */
  readAll(): Promise<string>;
}

/**
 * Standard input: a terminal, at which somebody types, or a pipe, which gives a line for each question.
 * @param show Writes to whoever types.
 */
export function createInput(stdin: NodeJS.ReadStream, show: (text: string) => void): Input & { close(): void } {
  let close = () => {};
  let lines: AsyncIterator<string> | undefined;
  const openLines = () => {
    const reader = createInterface({ input: stdin });
    close = () => reader.close();
    return reader[Symbol.asyncIterator]();
  };
  const nextLine = async () => {
    const line = await (lines ??= openLines()).next();
    return line.done === true ? "" : line.value;
  };
  return {
    async askSecret(prompt) {
      if (!stdin.isTTY) return nextLine();
      show(prompt);
      const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
      const terminal = createInterface({ input: stdin, output: nowhere, terminal: true });
      const line = await new Promise<string>((resolve) => {
        terminal.once("line", resolve);
        terminal.once("close", () => resolve(""));
      });
      terminal.close();
      show("\n");
      return line;
    },
    readAll: () => text(stdin),
    close: () => close(),
  };
}

/**
 * What a file holds, or standard input where it is called `-`.
 * @throws CliError `file`.
 */
export async function readText(file: string, input: Pick<Input, "readAll">): Promise<string> {
  if (file === "-") return input.readAll();
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new CliError("file", `cannot read ${file}`, { cause });
  }
}
