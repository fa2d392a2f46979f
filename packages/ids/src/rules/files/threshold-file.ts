/**
 * threshold.config: what an operator says about alerts of rules, beside the rules.
 * @see https://docs.suricata.io/en/latest/configuration/global-thresholds.html
 */

import type { AddressSet } from "../address-set.ts";
import { createAddressReader } from "../header/addresses.ts";
import { readPairs, readThreshold } from "../keywords/meta.ts";
import type { Threshold, Track } from "../rule.ts";
import { DEFAULT_VARIABLES } from "../rule-set.ts";
import { readLines } from "../text/lines.ts";
import { lookUp } from "../text/look-up.ts";
import { parseNumber } from "../text/numbers.ts";
import type { LineFault } from "./configuration-files.ts";

/** Which rules a line is about; 0 for all of a gid, or of all. */
interface RuleIds {
  readonly gid: number;
  readonly id: number;
}

/** Alerts are not given: of all traffic, or of these addresses. */
export interface Suppression extends RuleIds {
  readonly kind: "suppress";
  readonly track: "source" | "destination" | "either" | null;
  readonly addresses: AddressSet | null;
}

/** The line's threshold instead of the rule's own. */
export interface ThresholdLine extends RuleIds {
  readonly kind: "threshold";
  readonly threshold: Threshold;
}

/** Above `count` matches within `seconds` the rule has another action, for `timeoutSeconds`. */
export interface RateFilter extends RuleIds {
  readonly kind: "rate-filter";
  readonly track: Track;
  readonly count: number;
  readonly seconds: number;
  readonly action: "alert" | "drop" | "pass" | "reject";
  readonly timeoutSeconds: number;
}

/** A line of the file. */
export type ThresholdEntry = Suppression | ThresholdLine | RateFilter;

/** What the file gave, in its order, and the lines that gave nothing. */
export interface ThresholdFile {
  readonly entries: readonly ThresholdEntry[];
  readonly faults: readonly LineFault[];
}

const SUPPRESS_TRACKS = { by_src: "source", by_dst: "destination", by_either: "either" } as const;
const TRACKS: Readonly<Record<string, Track>> = { by_src: "source", by_dst: "destination", by_both: "both", by_rule: "rule", by_flow: "flow" };
const ACTIONS: Readonly<Record<string, RateFilter["action"]>> = { alert: "alert", drop: "drop", pass: "pass", reject: "reject" };

type ReadAddresses = ReturnType<typeof createAddressReader>;

/** @param variables Addresses by name, as of `RuleSetOptions`. */
export function parseThresholds(bytes: Uint8Array, variables: Readonly<Record<string, string>> = {}): ThresholdFile {
  const addresses = createAddressReader({ ...DEFAULT_VARIABLES.addresses, ...variables });
  const entries: ThresholdEntry[] = [];
  const faults: LineFault[] = [];
  for (const { number, text } of readLines(bytes)) {
    const entry = text === null ? "the line is too long" : readLine(text, addresses);
    if (typeof entry === "string") faults.push({ line: number, reason: entry });
    else entries.push(entry);
  }
  return { entries, faults };
}

function readLine(text: string, addresses: ReadAddresses): ThresholdEntry | string {
  const found = /^(\w+)\s+(.*)$/.exec(text);
  const kind = found?.[1] ?? "";
  // The addresses of `suppress` may be a group, whose commas are its own.
  const [plain = "", ip] = (found?.[2] ?? "").split(/,\s*ip\s+/);
  const words = plain.split(",").map((word) => word.trim());
  const ids = readIds(words.slice(0, 2));
  const rest = words.slice(2).join(",");
  if (!ids) return "gen_id and sig_id are missing";
  switch (kind) {
    case "suppress": return readSuppression(ids, rest, ip ?? null, addresses);
    case "threshold": case "event_filter": {
      const threshold = readThreshold(rest);
      return typeof threshold === "string" ? threshold : { kind: "threshold", ...ids, threshold };
    }
    case "rate_filter": return readRateFilter(ids, rest);
    default: return `${kind} is no kind of line`;
  }
}

function readIds(words: readonly string[]): RuleIds | null {
  const pairs = readPairs(words.join(","), ["gen_id", "sig_id"]);
  const gid = parseNumber(pairs?.get("gen_id") ?? "", 0xffff_ffff);
  const id = parseNumber(pairs?.get("sig_id") ?? "", 0xffff_ffff);
  return gid === null || id === null ? null : { gid, id };
}

function readSuppression(ids: RuleIds, rest: string, ip: string | null, addresses: ReadAddresses): Suppression | string {
  if (rest === "" && ip === null) return { kind: "suppress", ...ids, track: null, addresses: null };
  const track = lookUp(SUPPRESS_TRACKS, readPairs(rest, ["track"])?.get("track") ?? "");
  if (!track || ip === null) return "track and ip come together";
  const read = addresses(ip.trim());
  return read.ok ? { kind: "suppress", ...ids, track, addresses: read.set } : read.reason;
}

function readRateFilter(ids: RuleIds, rest: string): RateFilter | string {
  const pairs = readPairs(rest, ["track", "count", "seconds", "new_action", "timeout"]);
  const track = lookUp(TRACKS, pairs?.get("track") ?? "");
  const action = lookUp(ACTIONS, pairs?.get("new_action") ?? "");
  const [count, seconds, timeoutSeconds] = ["count", "seconds", "timeout"].map((name) => parseNumber(pairs?.get(name) ?? "", 0xffff_ffff));
  if (!track || !action || !count || !seconds || typeof timeoutSeconds !== "number") return `a part is missing or wrong in ${rest}`;
  return { kind: "rate-filter", ...ids, track, count, seconds, action, timeoutSeconds };
}
