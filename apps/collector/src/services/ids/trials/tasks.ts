import type { IdsTestResult } from "@lanthorn/contract";

/** A rule and a capture that it is tried on. */
export interface TrialTask {
  /** Rules; the last is tried, those before it run beside it. */
  readonly rules: Uint8Array;
  /** Variables of addresses that differ from the engine's own. */
  readonly addresses: Readonly<Record<string, string>>;
  /** pcap or pcapng, packed by gzip or as it is. */
  readonly capture: Uint8Array;
  /** What is said where all of the capture was read, and it is not all that there is; null where it is. */
  readonly rest: string | null;
}

/** What came of it, without what the thread does not know. */
export type TrialResult = Omit<IdsTestResult, "rule" | "beside">;

/** An answer, or in words what is wrong with the capture. */
export type TrialAnswer = { readonly result: TrialResult } | { readonly refused: string };

/** Memory for the heap of a trial; buffers are bounded by `MAX_IDS_TEST_BYTES` and the engine's own limit. */
export const MAX_TRIAL_HEAP_MB = 256;
/** A trial that takes longer leaves the rest of its capture out. */
export const MAX_TRIAL_MS = 10_000;
