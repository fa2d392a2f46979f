import type { ListFacts, ListFormat, RefusedLine } from "@lanthorn/dns";

/** A list that the thread reads. */
export interface ListTask extends ListFacts {
  readonly file: string;
  readonly format: ListFormat | null;
  readonly origin: string | null;
  /** Rules of the version in use; 0 for the first. */
  readonly rulesBefore: number;
}

/** What the thread is started with. */
export interface NamesTask {
  readonly lists: readonly ListTask[];
  readonly protectedNames: readonly string[];
  readonly hashKey: readonly [number, number];
  /** Days since 1970. */
  readonly day: number;
}

/** What became of one list. */
export interface ListOutcome {
  readonly id: string;
  /** Null where it is in the set; otherwise why not, as a sentence. */
  readonly fault: string | null;
  readonly rules: number;
  /** Lines that were not understood. */
  readonly refused: number;
  /** The first of them. */
  readonly refusals: readonly RefusedLine[];
}

/** What the thread says once, at its end. `bytes` is a whole set; null where a list must be left out and the others read again. */
export interface NamesBuilt {
  readonly bytes: Uint8Array | null;
  readonly outcomes: readonly ListOutcome[];
}
