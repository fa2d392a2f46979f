/** Judges queries by the block lists of this machine. Without a list, and while none was read, every name resolves. */
import { type AnswerFacts, createVerdictEngine, type DnsQuery, type DnsRules, type Verdict, type VerdictEngine } from "@lanthorn/dns";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { createNameLists } from "./name-lists.ts";
import type { FilterSettings, ListSettings } from "./settings.ts";

/** What judges. */
export interface Filter {
  /** @returns Null where nothing is filtered. */
  judgeQuestion(query: DnsQuery): Verdict | null;
  judgeAnswer(query: DnsQuery, question: Verdict, facts: AnswerFacts): Verdict;
  /** Reads lists whose files have changed. Resolves when that is done; never rejects. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** What it is made of. */
export interface FilterParts {
  readonly lists: readonly ListSettings[];
  readonly settings: FilterSettings;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** @returns A filter that has read nothing yet. */
export function createFilter({ lists, settings, clock, log }: FilterParts): Filter {
  const rules = rulesOf(lists, settings);
  const names = createNameLists(lists, settings.protected, { clock, log });
  const denies = settings.private_relay === "block" || settings.browser_dns === "block";
  let engine: VerdictEngine | null = denies ? createVerdictEngine([], rules) : null;
  let refreshing: Promise<void> | null = null;
  const refresh = async () => {
    try {
      const set = await names.refresh();
      if (set) engine = createVerdictEngine([set], rules);
    } catch (error) {
      log.error({ reason: describeError(error) }, "the block lists could not be read; those before stay");
    } finally {
      refreshing = null;
    }
  };
  return {
    judgeQuestion: (query) => engine?.judgeQuestion(query) ?? null,
    judgeAnswer: (query, question, facts) => engine?.judgeAnswer(query, question, facts) ?? question,
    refresh: () => (refreshing ??= lists.length === 0 ? Promise.resolve() : refresh()),
    close: () => names.close(),
  };
}

const EVERYONE = { kind: "everyone" } as const;

function rulesOf(lists: readonly ListSettings[], { blocked, allow, private_relay: privateRelay, browser_dns: browserDns }: FilterSettings): DnsRules {
  return {
    policies: [{
      id: "everyone", name: "everyone", scope: EVERYONE, mode: "enforce", answer: { kind: blocked }, privateRelay, browserDns,
      lists: lists.map(({ name, mode }) => ({ listId: name, mode, schedule: null })),
    }],
    allowances: allow.map((name) => ({ id: name, name, hasSubdomains: true, scope: EVERYONE, untilMs: null })),
    pauses: [], timeZones: {}, waitsForAnswer: false,
  };
}
