import type { PortFinding } from "../identify/finding.ts";
import type { OpenPort } from "../identify/identify.ts";

/**
 * Asks an open port what it is. Bounded in bytes and time by itself.
 * @param signal Ends it at once; it resolves to null then.
 * @returns Null where nothing was learned. Does not reject.
 */
export type IdentifyService = (openPort: OpenPort, signal: AbortSignal) => Promise<PortFinding | null>;

/** Asks open ports what they are, beside the scan that finds them. */
export interface Identification {
  add(openPort: OpenPort): void;
  /** Resolves when nothing waits any more. */
  idle(): Promise<void>;
}

/** Connections at once: in all, and to one host, whose services would feel more. */
const AT_ONCE = 48;
const AT_ONCE_TO_HOST = 4;

/** @param deps.identify Null to ask nothing. */
export function createIdentification(deps: {
  readonly identify: IdentifyService | null;
  readonly signal: AbortSignal;
  readonly onFinding: (openPort: OpenPort, finding: PortFinding) => void;
}): Identification {
  const { identify, signal } = deps;
  const waiting: OpenPort[] = [];
  const running = new Map<string, number>();
  const idlers: (() => void)[] = [];
  let total = 0;

  const settle = () => {
    if (total === 0 && (waiting.length === 0 || signal.aborted)) for (const resolve of idlers.splice(0)) resolve();
  };
  const ask = async (openPort: OpenPort) => {
    total += 1;
    running.set(openPort.ip, (running.get(openPort.ip) ?? 0) + 1);
    const finding = await identify?.(openPort, signal).catch(() => null);
    total -= 1;
    const left = (running.get(openPort.ip) ?? 1) - 1;
    if (left === 0) running.delete(openPort.ip);
    else running.set(openPort.ip, left);
    if (finding && !signal.aborted) deps.onFinding(openPort, finding);
    start();
  };
  const hasRoom = () => total < AT_ONCE && !signal.aborted;
  const start = () => {
    while (hasRoom()) {
      const next = waiting.findIndex(({ ip }) => (running.get(ip) ?? 0) < AT_ONCE_TO_HOST);
      if (next < 0) break;
      for (const openPort of waiting.splice(next, 1)) void ask(openPort);
    }
    settle();
  };
  return {
    add(openPort) {
      if (!identify || signal.aborted) return;
      waiting.push(openPort);
      start();
    },
    idle: () =>
      new Promise((resolve) => {
        idlers.push(resolve);
        settle();
      }),
  };
}
