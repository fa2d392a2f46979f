import { CveSeverity } from "./cve-matches.ts";
import { DeviceConditions } from "./device-conditions.ts";
import { type FilterLanguage, type FilterTexts, filterText, formatFilter, type ParsedFilter, parseFilter, termsOf } from "./filter-language.ts";

type TermName =
  | "device_type" | "vendor" | "os" | "tag" | "open_port" | "subnet" | "presence_state" | "is_online" | "site_id" | "cve_severity"
  | "found_since" | "found_until";

const LANGUAGE: FilterLanguage<TermName> = {
  terms: {
    type: { name: "device_type" }, vendor: { name: "vendor" }, os: { name: "os" }, tag: { name: "tag" }, port: { name: "open_port" },
    subnet: { name: "subnet" }, state: { name: "presence_state" }, online: { name: "is_online", isBoolean: true }, site: { name: "site_id" },
    cve: { name: "cve_severity", order: CveSeverity.options },
  },
  moments: { seen: { since: "since", until: "until" }, found: { since: "found_since", until: "found_until" } },
  conditions: DeviceConditions,
};

/** The words that the filter language of devices knows before a colon. */
export const DEVICE_FILTER_TERMS: readonly string[] = termsOf(LANGUAGE);

/** Filters of `GET /devices`, as texts. */
export type DeviceFilter = FilterTexts<TermName>;

/** Reads the filter language of devices, as `parseFilter`: its words are `DEVICE_FILTER_TERMS`. */
export function parseDeviceFilter(text: string): ParsedFilter<TermName> {
  return parseFilter(LANGUAGE, text);
}

/** Writes filters of `GET /devices` in the language that `parseDeviceFilter` reads. */
export function formatDeviceFilter(filter: DeviceFilter): string {
  return formatFilter(LANGUAGE, filter);
}

/** A text in the filter language of devices, read: the conditions that it says. */
export const DeviceFilterText = filterText(LANGUAGE, DeviceConditions, {
  description: "The same in the filter language, with the words `type`, `vendor`, `os`, `tag`, `port`, `subnet`, `state`, `online`, `site`, `cve`, `seen` "
    + "(`seen:<7d`: within seven days; `seen:>7d`: not since) and `found` (`found:<7d`: for the first time within seven days).",
  examples: ['type:printer -tag:lab vendor:"Cisco Systems" cve:>=high seen:<7d'],
});
