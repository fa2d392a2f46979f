/** Questions on their way to servers: each is asked once, however many wait for it. */
import type { Clock } from "@lanthorn/runtime";
import type { AnswerCache } from "../cache/answer-cache.ts";
import type { Answer } from "../messages/answer.ts";
import type { Question } from "../messages/question.ts";
import type { Forwarder } from "./forwarder.ts";

/** What finds answers, and keeps them. */
export interface Lookups {
  /** @param onEnd Called once, in a later turn or at once, with null where nobody answers or too much waits. */
  find(key: string, question: Question, onEnd: (answer: Answer | null) => void): void;
  /** Whether servers of the site's own answer for a name: then it is not for nobody. */
  readonly hasRoute: (name: Uint8Array) => boolean;
  readonly waiting: number;
}

/** Questions that wait, over all clients; each holds some KiB. */
const MAX_WAITING = 4096;
/** Who asks the same again while it waits. */
const MAX_WAITING_FOR_ONE = 1024;

/** What lookups stand on. */
export interface LookupParts {
  readonly cache: AnswerCache;
  readonly routeOf: (name: Uint8Array) => { readonly forwarder: Forwarder; readonly isGeneral: boolean };
  /** The general servers are the site's own, so they may know its names. */
  readonly isGeneralLocal: boolean;
  readonly clock: Pick<Clock, "monotonic">;
}

/** @returns Lookups of which none waits. */
export function createLookups({ cache, routeOf, isGeneralLocal, clock }: LookupParts): Lookups {
  const waiting = new Map<string, ((answer: Answer | null) => void)[]>();
  const end = (key: string, all: readonly ((answer: Answer | null) => void)[], answer: Answer | null): void => {
    waiting.delete(key);
    if (answer) cache.put(key, answer, clock.monotonic());
    for (const one of all) one(answer);
  };
  return {
    find(key, question, onEnd) {
      const others = waiting.get(key);
      if (others) {
        if (others.length < MAX_WAITING_FOR_ONE) others.push(onEnd);
        else onEnd(null);
        return;
      }
      if (waiting.size >= MAX_WAITING) return onEnd(null);
      const all = [onEnd];
      waiting.set(key, all);
      void routeOf(question.name).forwarder.ask(question).then((answer) => end(key, all, answer));
    },
    hasRoute: (name) => isGeneralLocal || !routeOf(name).isGeneral,
    get waiting() {
      return waiting.size;
    },
  };
}
