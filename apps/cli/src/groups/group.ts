import type { Command } from "commander";
import type { Clock } from "@lanthorn/runtime";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import type { Input } from "../input.ts";

/** What a group of commands is added with. */
export interface GroupDependencies {
  /** Gives a command `--json`, the login, and a way to print its answer. */
  readonly answering: <A extends readonly unknown[]>(
    command: Command, run: (connection: Connection, ...args: A) => Promise<Answer>,
  ) => void;
  readonly input: Input;
  readonly clock: Pick<Clock, "after" | "now">;
}
