import type { TsigKey } from "./tsig.ts";

/** What the thread is started with. */
export interface TransferTask {
  /** That the deployment allows, to be tried in their order. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** The zone's name. */
  readonly zone: string;
  readonly key: TsigKey | null;
  /** Of the zone as it was taken last; null where it was not. */
  readonly serial: number | null;
  /** Where the zone lies as it was transferred last, if it does, and is kept. */
  readonly base: string;
  /** Where its rules are written to, as a list. */
  readonly path: string;
  readonly maxBytes: number;
}

/** What the thread says once, at its end. */
export type TransferOutcome =
  /** Nothing is newer. */
  | { readonly kind: "same" }
  | { readonly kind: "whole" | "changes"; readonly serial: number }
  /** What was published cannot be taken, or not be had. */
  | { readonly kind: "fault"; readonly reason: string };
