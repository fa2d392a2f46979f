import type { Log } from "@lanthorn/runtime";

/** Why nothing is captured. */
export interface CaptureProblem {
  /** Null while frames are captured. */
  readonly text: string | null;
  /** Each new reason is logged once. */
  set(reason: string): void;
  clear(): void;
  /** The probe stops: nothing more is logged. */
  close(): void;
}

/** @param name The interface, which was not read yet. */
export function createCaptureProblem(name: string, log: Log): CaptureProblem {
  let text: string | null = `${name} was not read yet`;
  let closed = false;
  return {
    get text() {
      return text;
    },
    set(reason) {
      if (!closed && reason !== text) log.warn({ interface: name, reason }, "nothing is captured until this is repaired");
      text = reason;
    },
    clear() {
      text = null;
    },
    close() {
      closed = true;
    },
  };
}
