import { spawn } from "node:child_process";
import { setPriority } from "node:os";
import { describeError, parseJson } from "@lanthorn/runtime";
import * as z from "zod";
import { CollectorError } from "../errors.ts";

/** Work that a process of its own does: a hidden command of the collector's own program, once for each input. */
export interface ProcessTask<I, R, P = never> {
  readonly command: string;
  readonly input: z.ZodType<I>;
  readonly result: z.ZodType<R>;
  /** Where the work reports how far it is. */
  readonly progress?: z.ZodType<P>;
  /** What the work may fail with; all else is the first of these. */
  readonly codes: readonly [CollectorError["code"], ...CollectorError["code"][]];
  /** Does it, in the process. @param environment Of the process, for those that it starts. @param report Says how far it is. */
  readonly run: (input: I, environment: Environment, report: (progress: P) => void) => Promise<R>;
  /** Removes what a process that was ended in the middle has left. */
  readonly clear: (input: I) => void;
}

type Environment = Readonly<Record<string, string | undefined>>;

const MAX_OUTPUT_CHARACTERS = 65_536;
const PROGRESS_START = '{"progress":';

/** A third of the collector's own share where both want the processor. Less, and on a busy machine it would never end. */
const NICE = 5;

/**
 * Does a task in processes that give way to everything else. The input goes there by standard input, since it may hold keys, and
 * stays open: a process whose parent has died ends, and leaves nothing.
 * @param command The collector's own program, as it was started itself.
 * @returns Throws CollectorError with the reason; the first of the task's codes when it was aborted.
 */
export function inProcess<I, R, P = never>(
  [program, ...args]: readonly [string, ...string[]], task: ProcessTask<I, R, P>,
): (input: I, stopped: AbortSignal, onProgress?: (progress: P) => void) => Promise<R> {
  return async (input, stopped, onProgress = () => {}) => {
    const child = spawn(program, [...args, task.command], { stdio: ["pipe", "pipe", "pipe"] });
    const kill = () => void child.kill("SIGKILL");
    stopped.addEventListener("abort", kill);
    if (stopped.aborted) kill();
    let [output, complaint] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output = takeProgress(task, `${output}${chunk}`, onProgress).slice(-MAX_OUTPUT_CHARACTERS);
    });
    child.stderr.on("data", (chunk: Buffer) => (complaint = `${complaint}${chunk.toString()}`.slice(-MAX_OUTPUT_CHARACTERS)));
    // A process that ends before it has read all says why by how it ends.
    child.stdin.on("error", () => {});
    child.stdin.write(`${JSON.stringify(input)}\n`);
    const ended = new Promise<string>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, killer) => resolve(killer === null ? `code ${code}` : killer));
    });
    giveWay(child.pid);
    try {
      const how = await ended;
      const outcome = parseOutcome(task, output);
      if (outcome?.ok === true) return outcome.result;
      const [code] = task.codes;
      if (outcome) throw new CollectorError(outcome.code, outcome.message);
      if (stopped.aborted) throw new CollectorError(code, "the collector was stopped meanwhile");
      throw new CollectorError(code, `the process that made it ended with ${how}${complaint === "" ? "" : `: ${lastLine(complaint)}`}`);
    } catch (error) {
      task.clear(input);
      throw error;
    } finally {
      stopped.removeEventListener("abort", kill);
    }
  };
}

/** The other side: what the process does. @returns Its exit code. */
export async function serveTask<I, R, P = never>(task: ProcessTask<I, R, P>, streams: {
  readonly input: NodeJS.ReadableStream; readonly print: (text: string) => void; readonly exit: (code: number) => void;
  readonly environment: Environment;
}): Promise<number> {
  let text = "";
  const input = await new Promise<I>((resolve, reject) => {
    streams.input.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const end = text.indexOf("\n");
      if (end !== -1) resolve(Promise.resolve(text.slice(0, end)).then((line) => task.input.parse(JSON.parse(line))));
    });
    streams.input.on("end", () => reject(new Error("there was no input")));
  });
  streams.input.on("end", () => {
    task.clear(input);
    streams.exit(1);
  });
  const say = (outcome: Outcome<R>) => streams.print(JSON.stringify(outcome));
  try {
    say({ ok: true, result: await task.run(input, streams.environment, (progress) => streams.print(JSON.stringify({ progress }))) });
    return 0;
  } catch (error) {
    const known = error instanceof CollectorError && task.codes.includes(error.code) ? error.code : task.codes[0];
    say({ ok: false, code: known, message: describeError(error) });
    return 1;
  }
}

type Outcome<R> = { readonly ok: true; readonly result: R } | {
  readonly ok: false; readonly code: CollectorError["code"]; readonly message: string;
};

/** Lowers a process's priority, so that it takes what the collector leaves. Nothing happens for one that has ended. */
export function giveWay(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, NICE);
  } catch {
    // It has ended already, and says itself how.
  }
}

/** @returns What is left of the output: its last line, and what tells of no progress. */
function takeProgress<I, R, P>({ progress }: ProcessTask<I, R, P>, output: string, onProgress: (progress: P) => void): string {
  if (progress === undefined) return output;
  const lines = output.split("\n");
  const rest = lines.slice(0, -1).filter((line) => {
    const form = z.object({ progress }).safeParse(line.startsWith(PROGRESS_START) ? parseJson(line) : null);
    if (form.success) onProgress(form.data.progress);
    return !form.success;
  });
  return [...rest, lines.at(-1) ?? ""].join("\n");
}

function parseOutcome<I, R, P>({ result, codes }: ProcessTask<I, R, P>, output: string): Outcome<R> | null {
  const Form = z.union([
    z.object({ ok: z.literal(true), result }), z.object({ ok: z.literal(false), code: z.enum(codes), message: z.string() }),
  ]);
  try {
    return Form.parse(JSON.parse(lastLine(output)));
  } catch {
    return null;
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
