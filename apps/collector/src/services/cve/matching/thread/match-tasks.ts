import type { JudgmentRow, MatchedCveRow } from "../store/match-rows.ts";

/** Which database, and how new. */
export interface CveVersion {
  readonly lineage: string;
  readonly generation: number;
}

/** A judgment as the thread makes it: when it holds from is for whoever writes it. */
export type FreshJudgment = Omit<JudgmentRow, "software_id" | "since" | "until">;

/** What the thread is asked, and what it answers. Null everywhere: there is no CVE database. */
export interface MatchTasks {
  /** Which database answers now. */
  version: { readonly input: null; readonly output: CveVersion | null };
  /** Judges evidence; its judgments come before, in parts. `product` is empty for evidence that names none. */
  judge: { readonly input: { readonly evidence: string }; readonly output: (CveVersion & { readonly basis: string; readonly product: string }) | null };
  /**
   * Which of some software a newer database may judge otherwise, by the products that its changed CVEs name and by distributions' fixes. `cves`: the
   * ids that changed, so that judgments on them are looked at too; null for all.
   */
  concerned: {
    readonly input: CveVersion & { readonly software: readonly { readonly id: string; readonly evidence: string; readonly basis: string }[] };
    readonly output: (CveVersion & { readonly ids: readonly string[] }) | null;
  };
  /** Ids of CVEs that changed after a version; null where all may have. */
  changed: { readonly input: CveVersion; readonly output: { readonly ids: readonly string[] | null } | null };
  /** What is shown of CVEs; those that are not there are left out. */
  facts: { readonly input: { readonly ids: readonly string[] }; readonly output: readonly MatchedCveRow[] | null };
}

/** The name of a question to the thread. */
export type MatchTaskName = keyof MatchTasks;

/** A question as it is sent to the thread. */
export type MatchTask = { readonly [N in MatchTaskName]: { readonly id: number; readonly name: N; readonly input: MatchTasks[N]["input"] } }[MatchTaskName];

/** What the thread sends back: parts of a question's judgments, then its answer. */
export type MatchAnswer =
  | { readonly id: number; readonly part: readonly FreshJudgment[] }
  | { readonly id: number; readonly error: string }
  | { readonly id: number; readonly output: MatchTasks[MatchTaskName]["output"] };
