import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** What another scanner found, timed as a whole process. */
export interface PeerResult {
  readonly found: number;
  readonly false: number;
  readonly seconds: number;
}

/** A peer that takes longer is ended. */
const MAX_MS = 120_000;

/**
 * Runs another scanner in a namespace.
 * @param peer.read Finds what it says in its output, written as in `truth`.
 */
export async function runPeer(peer: {
  readonly namespace: string;
  readonly program: { readonly path: string; readonly env: Readonly<Record<string, string>> };
  readonly args: readonly string[];
  readonly read: (output: string) => readonly string[];
  readonly truth: ReadonlySet<string>;
  /** Two minutes unless given. */
  readonly longestMs?: number;
}): Promise<PeerResult> {
  const { program, truth, longestMs = MAX_MS } = peer;
  const startedAt = performance.now();
  const options = { maxBuffer: 1e9, timeout: longestMs, killSignal: "SIGKILL", env: { ...process.env, ...program.env } } as const;
  const output = await promisify(execFile)("ip", ["netns", "exec", peer.namespace, program.path, ...peer.args], options)
    .then(({ stdout }) => stdout, (error: { readonly stdout?: string }) => error.stdout ?? "");
  const seconds = Math.round((performance.now() - startedAt) / 10) / 100;
  const found = new Set(peer.read(output));
  return { found: [...truth].filter((one) => found.has(one)).length, false: [...found].filter((one) => !truth.has(one)).length, seconds };
}

/** An IPv4 address as a number. */
export function addressNumber(text: string): number {
  return text.split(".").reduce((value, part) => value * 256 + Number(part), 0);
}
