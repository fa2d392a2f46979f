import type { NameProtocol } from "../../egress/name-questions.ts";
import { createBoundedMap } from "../../bounded-map.ts";

/** Who has answered for which names. Bounded: the oldest leaves first. */
export interface Answerers {
  /** Somebody asked for a name. */
  addQuestion(label: string, mac: string, now: number): void;
  /** @returns For how many names that nobody has somebody answered lately, this one included. */
  addUnlikely(label: string, now: number): number;
  /** @returns The names that this sender gave this address for, as others asked; null where nobody else has asked, or the name is known as its own. */
  addName(answer: {
    readonly mac: string; readonly label: string; readonly address: string; readonly protocol: NameProtocol; readonly now: number;
  }): readonly string[] | null;
}

const MAX_QUESTIONS = 512;
const MAX_ANSWERERS = 512;
const MAX_NAMES = 16;
const MAX_UNLIKELY = 16;
/** Answers come within a second; a slow one within this. */
const ANSWER_MS = 3000;
/** What an answerer said is forgotten after this. */
const MEMORY_MS = 600_000;

interface Answerer {
  /** By name: whether others asked before it was said. */
  readonly names: Map<string, boolean>;
  at: number;
}

/** Keeps 512 questions, 512 pairs of sender and address with 16 names each, and 16 names that nobody has. */
export function createAnswerers(): Answerers {
  const questions = createBoundedMap<string, { readonly mac: string; readonly at: number }>(MAX_QUESTIONS);
  const answerers = createBoundedMap<string, Answerer>(MAX_ANSWERERS);
  const unlikely = createBoundedMap<string, number>(MAX_UNLIKELY);

  function answererOf(key: string, now: number): Answerer {
    const known = answerers.get(key);
    const answerer = known && now - known.at < MEMORY_MS ? known : { names: new Map<string, boolean>(), at: now };
    answerer.at = now;
    answerers.put(key, answerer);
    return answerer;
  }
  return {
    addQuestion: (label, mac, now) => questions.put(label, { mac, at: now }),
    addUnlikely(label, now) {
      for (const [old, at] of unlikely) if (now - at >= MEMORY_MS) unlikely.delete(old);
      unlikely.put(label, now);
      return unlikely.size;
    },
    addName({ mac, label, address, protocol, now }) {
      const question = questions.get(label);
      const isAsked = question !== undefined && question.mac !== mac && now - question.at < ANSWER_MS;
      const { names } = answererOf(`${protocol === "mDNS" ? "m" : "n"} ${mac} ${address}`, now);
      // What it said unasked is its own name, asked for or not.
      if (!names.has(label) && names.size < MAX_NAMES) names.set(label, isAsked);
      return isAsked ? [...names].flatMap(([name, wasAsked]) => (wasAsked ? [name] : [])) : null;
    },
  };
}
