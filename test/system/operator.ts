import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type CommandResult, tryCommand } from "../lab/run-command.ts";
import { CLI } from "./deployment.ts";

/** Somebody at a terminal who has `lanthorn`. */
export interface Operator {
  /** Runs one command to its end. */
  run(...args: readonly string[]): Promise<CommandResult>;
  /** The same with `--json`. @returns What it answered. @throws Error with what it said when it fails. */
  ask<T>(...args: readonly string[]): Promise<T>;
  /** Starts a command that goes on, as `watch` does. */
  start(...args: readonly string[]): RunningCommand;
}

export interface RunningCommand {
  /** Lines of standard output so far. */
  readonly lines: readonly string[];
  /** Lines of standard error so far. */
  readonly notes: readonly string[];
  /** @returns Its exit code. */
  stop(): Promise<number | null>;
}

/** @param session Where the login is kept. */
export function createOperator(session: string): Operator {
  const env = { LANTHORN_SESSION: session };
  const run = (...args: readonly string[]) => tryCommand(process.execPath, [CLI, ...args], { env });
  return {
    run,
    async ask<T>(...args: readonly string[]) {
      const { code, stdout, stderr } = await run(...args, "--json");
      if (code !== 0) throw new Error(`lanthorn ${args.join(" ")} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    start(...args) {
      const child: ChildProcess = spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, CLI, ...args], {
        env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"],
      });
      const ended = new Promise<number | null>((resolve) => {
        child.once("exit", resolve);
      });
      const lines: string[] = [];
      const notes: string[] = [];
      if (child.stdout) createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
      if (child.stderr) createInterface({ input: child.stderr }).on("line", (line) => notes.push(line));
      return {
        lines,
        notes,
        async stop() {
          child.kill("SIGTERM");
          return ended;
        },
      };
    },
  };
}
