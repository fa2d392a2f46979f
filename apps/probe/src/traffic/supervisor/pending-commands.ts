import type { Clock } from "@lanthorn/runtime";
import type { CommandAnswer } from "../messages.ts";

/** Commands that the process was given and has not yet answered. */
export interface PendingCommands {
  /** @param send Sends it under the id. @returns What becomes of it; a refusal when that takes too long. */
  add(send: (id: number) => boolean): Promise<CommandAnswer>;
  settle(id: number, answer: CommandAnswer): void;
  failAll(reason: string): void;
}

const MAX_PENDING = 32;
/** The process answers within milliseconds, or does not live. */
const MAX_ANSWER_MS = 15_000;

/** At most 32 at once; more are refused. */
export function createPendingCommands(clock: Pick<Clock, "after">): PendingCommands {
  const waiting = new Map<number, (answer: CommandAnswer) => void>();
  let lastId = 0;
  const settle = (id: number, answer: CommandAnswer): void => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  };
  return {
    settle,
    add(send) {
      if (waiting.size >= MAX_PENDING) return Promise.resolve({ refused: `${MAX_PENDING} commands already wait for the traffic process`, reason: "not-now" });
      const id = (lastId += 1);
      return new Promise((resolve) => {
        const cancel = clock.after(MAX_ANSWER_MS, () => settle(id, { refused: `the traffic process did not answer within ${MAX_ANSWER_MS / 1000} s`, reason: "not-now" }));
        waiting.set(id, (answer) => {
          cancel();
          resolve(answer);
        });
        if (!send(id)) settle(id, { refused: "the traffic process is busy; try again", reason: "not-now" });
      });
    },
    failAll(reason) {
      for (const id of waiting.keys()) settle(id, { refused: reason, reason: "not-now" });
    },
  };
}
