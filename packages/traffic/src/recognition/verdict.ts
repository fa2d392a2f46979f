/** What the first bytes say: certainly not, not enough of them yet, or certainly. */
export type Verdict = "no" | "more" | "yes";

