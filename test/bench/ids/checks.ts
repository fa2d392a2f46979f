/** Whether alerts are those that a case's checks ask for. */
import { isDeepStrictEqual } from "node:util";
import type { FilterCheck } from "./cases.ts";
import { MACHINE_CLASSES } from "./machine-classes.ts";
import { unmetRequirement } from "./requirements.ts";

/** An alert with the fields of eve.json, nested. */
export type EveAlert = Readonly<Record<string, unknown>>;

/** What came of a case's checks. */
export interface Verdict {
  /** Checks on alerts that were compared. */
  readonly compared: number;
  /** Of them those that do not hold, in words. */
  readonly failed: readonly string[];
  /** Checks on events that are no alerts, and checks that only ask for what no alert says. */
  readonly notOurs: number;
  /** Fields of checks on alerts that were not compared, with how often. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/** Facts of an alert that every engine knows; all others depend on how a program numbers and writes things. */
const COMPARED = /^(?:event_type$|alert(?:$|\.(?:signature_id|gid|rev|signature|category|severity|action)$)|src_ip$|dest_ip$|src_port$|dest_port$|proto$|app_proto$|direction$|http\.(?:hostname|url|http_method|http_user_agent|http_content_type|http_refer|status|protocol|length)$)/;
/** What only classification.config says. */
const OF_CLASSES: ReadonlySet<string> = new Set(["alert.category", "alert.severity"]);
/** A key may end in what is asked of the value rather than equality. */
const TEST = /\.?__(len|find|contains|startswith|endswith)$/;
const PRESENCE: ReadonlySet<string> = new Set(["has-key", "not-has-key"]);

/**
 * Compares alerts with the checks on alerts. A check of whose fields some were left out holds where at least so many alerts have the rest,
 * checks with the same rest taken together; every other needs its count exactly.
 * @param folder Of the case, for what single checks require.
 */
export function judgeAlerts(checks: readonly FilterCheck[], alerts: readonly EveAlert[], folder: string): Verdict {
  const leftOut = new Map<string, number>();
  const reduced = new Map<string, { readonly match: Readonly<Record<string, unknown>>; count: number }>();
  const failed: string[] = [];
  let [compared, notOurs] = [0, 0];
  for (const check of checks) {
    if (check.requires && unmetRequirement(check.requires, folder) !== null) continue;
    const asked = { ...check.match };
    if (!isOfAlerts(asked, check.filename)) {
      notOurs += 1;
      continue;
    }
    const unknown = [...Object.entries(asked), ...Object.entries(check["not-match"] ?? {})].filter(([key, value]) => !isCompared(key, value)).map(([key, value]) => (PRESENCE.has(key) ? String(value) : key));
    for (const key of unknown) leftOut.set(key, (leftOut.get(key) ?? 0) + 1);
    const [least, most] = boundsOf(check.count);
    const match = Object.fromEntries(Object.entries(asked).filter(([key, value]) => isCompared(key, value)));
    if (unknown.length > 0 && (least === 0 || check["not-match"])) {
      notOurs += 1;
      continue;
    }
    compared += 1;
    if (unknown.length === 0) {
      const found = alerts.filter((alert) => hasFields(alert, match) && !(check["not-match"] && hasFields(alert, check["not-match"]))).length;
      if (found < least || found > most) failed.push(`${found} alerts, not ${check.count ?? "one or more"}, with ${JSON.stringify(match)}${check["not-match"] ? ` and not ${JSON.stringify(check["not-match"])}` : ""}`);
    } else {
      const key = JSON.stringify(Object.entries(match).toSorted(([a], [b]) => (a < b ? -1 : 1)));
      const before = reduced.get(key) ?? { match, count: 0 };
      before.count += least;
      reduced.set(key, before);
    }
  }
  for (const { match, count } of reduced.values()) {
    const found = alerts.filter((alert) => hasFields(alert, match)).length;
    if (found < count) failed.push(`${found} alerts, fewer than ${count}, with ${JSON.stringify(match)}`);
  }
  return { compared, failed, notOurs, leftOut };
}

/** Without a kind of event, a check is on alerts where it asks for an alert's fields. */
function isOfAlerts(match: Readonly<Record<string, unknown>>, filename: string | undefined): boolean {
  if (filename !== undefined && filename !== "eve.json") return false;
  const kind = match["event_type"];
  return kind === "alert" || (kind === undefined && Object.keys(match).some((key) => key.startsWith("alert.")));
}

function isCompared(key: string, value: unknown): boolean {
  const field = PRESENCE.has(key) ? String(value) : key.replace(TEST, "");
  return COMPARED.test(field) && (MACHINE_CLASSES !== null || !OF_CLASSES.has(field));
}

/** From and to how many. Without a count, one will do. */
function boundsOf(count: number | string | undefined): readonly [number, number] {
  if (count === undefined) return [1, Number.POSITIVE_INFINITY];
  if (typeof count === "number") return [count, count];
  const [, sign = "", number = ""] = /^\s*([<>]=?)?\s*(\d+)\s*$/.exec(count) ?? [];
  const value = Number(number);
  switch (sign) {
    case ">": return [value + 1, Number.POSITIVE_INFINITY];
    case ">=": return [value, Number.POSITIVE_INFINITY];
    case "<": return [0, value - 1];
    case "<=": return [0, value];
    default: return [value, value];
  }
}

function hasFields(alert: EveAlert, match: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(match).every(([key, wanted]) => {
    if (key === "has-key") return fieldOf(alert, String(wanted)) !== undefined;
    if (key === "not-has-key") return fieldOf(alert, String(wanted)) === undefined;
    const test = TEST.exec(key)?.[1];
    const value = fieldOf(alert, key.replace(TEST, ""));
    return test === undefined ? isSame(value, wanted) : holds(test, value, wanted);
  });
}

function holds(test: string, value: unknown, wanted: unknown): boolean {
  if (test === "len") return (Array.isArray(value) || typeof value === "string") && value.length === wanted;
  if (Array.isArray(value)) return test !== "startswith" && test !== "endswith" && value.some((one) => isSame(one, wanted));
  if (typeof value !== "string") return false;
  const part = typeof wanted === "string" ? wanted : JSON.stringify(wanted);
  return test === "startswith" ? value.startsWith(part) : test === "endswith" ? value.endsWith(part) : value.includes(part);
}

function isSame(value: unknown, wanted: unknown): boolean {
  return typeof value === "string" && (typeof wanted === "number" || typeof wanted === "boolean") ? value === `${wanted}` : isDeepStrictEqual(value, wanted);
}

/** `a.b[0].c`: keys with dots are not asked for. */
function fieldOf(alert: EveAlert, path: string): unknown {
  let value: unknown = alert;
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (value === null || typeof value !== "object") return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name ?? index ?? ""];
  }
  return value;
}
