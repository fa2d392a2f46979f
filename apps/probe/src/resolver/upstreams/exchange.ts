import type { Question } from "../messages/question.ts";

/** Why no answer came: nothing in time; nobody takes questions there; what came was no answer to the question. */
export type ExchangeProblem = "timeout" | "unreachable" | "broken";

/** A response whose id and question were compared, as it came; or why there is none. */
export type Exchanged = Uint8Array | ExchangeProblem;

/** One way to ask one server. */
export interface Exchange {
  /** @returns Never rejects. */
  ask(question: Question, timeoutMs: number): Promise<Exchanged>;
  /** Ends what is open; questions that wait are `unreachable`. */
  close(): void;
}

/** Where a server is. */
export interface ServerAddress {
  readonly address: string;
  readonly port: number;
}

/** Fills memory with what nobody can guess. */
export type FillRandom = (bytes: Uint8Array) => void;
