/** What reads a keyword. */

import type { RuleDraft } from "../draft.ts";

/**
 * Reads one keyword into the draft.
 * @param value The option's value as it stands; empty where there is none.
 * @returns The reason why the rule cannot be run, or `null`.
 */
export type Keyword = (draft: RuleDraft, value: string) => string | null;
