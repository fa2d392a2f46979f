import { Severity } from "../values.ts";
import { AlertConditions } from "./alert-conditions.ts";
import { type FilterLanguage, type FilterTexts, filterText, formatFilter, type ParsedFilter, parseFilter, termsOf } from "./filter-language.ts";

type TermName = "severity" | "status" | "source" | "type" | "site_id" | "device_id";

const LANGUAGE: FilterLanguage<TermName> = {
  terms: {
    severity: { name: "severity", order: Severity.options }, status: { name: "status" }, source: { name: "source" }, type: { name: "type" },
    site: { name: "site_id" }, device: { name: "device_id" },
  },
  moments: { seen: { since: "since", until: "until" } },
  conditions: AlertConditions,
};

/** The words that the filter language of alerts knows before a colon. */
export const ALERT_FILTER_TERMS: readonly string[] = termsOf(LANGUAGE);

/** Filters of `GET /alerts`, as texts. */
export type AlertFilter = FilterTexts<TermName>;

/** Reads the filter language of alerts, as `parseFilter`: its words are `ALERT_FILTER_TERMS`. */
export function parseAlertFilter(text: string): ParsedFilter<TermName> {
  return parseFilter(LANGUAGE, text);
}

/** Writes filters of `GET /alerts` in the language that `parseAlertFilter` reads. */
export function formatAlertFilter(filter: AlertFilter): string {
  return formatFilter(LANGUAGE, filter);
}

/** A text in the filter language of alerts, read: the conditions that it says. */
export const AlertFilterText = filterText(LANGUAGE, AlertConditions, {
  description: "The same in the filter language, with the words `severity`, `status`, `source`, `type`, `site`, `device` and `seen` "
    + "(`seen:<7d`: within seven days; `seen:>7d`: begun before that).",
  examples: ["severity:>=high -status:resolved source:ids,rogue seen:<24h"],
});
