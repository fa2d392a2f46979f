import { createId } from "@lanthorn/runtime";
import type { Severity } from "@lanthorn/contract";
import { factName, type Found } from "../compare/result.ts";
import { type DifferenceRow, openKeyOf } from "../store/differences.ts";
import type { FactKey, FactRow } from "../store/facts.ts";
import { factTaken } from "./take.ts";

/** Whose differences they are. */
export interface DifferenceOwner {
  readonly tenantId: string;
  readonly siteId: string;
  readonly baselineId: string;
  readonly deviceId: string | null;
}

/** A maintenance window that counts now. */
export interface WindowNow {
  readonly effect: string;
  readonly author: string;
  readonly reason: string;
}

/** What people have said of differences. */
export interface Judgement {
  /** When they were looked for. */
  readonly at: string;
  /** Null: it is not to be reported. */
  readonly severityOf: (found: Found) => Severity | null;
  /** The acceptance that covers it. */
  readonly acceptanceOf: (found: Found) => string | null;
  readonly window: WindowNow | null;
  /** Whether it is not to become part of the baseline, whatever a window says: an alert is open that says it is an attack. */
  readonly isRogue: (found: Found) => boolean;
  /** How many more a tenant may have; what is beyond is left for a later comparison. */
  readonly room: number;
}

/** What becomes of differences. */
export interface Transition {
  readonly added: DifferenceRow[];
  readonly changed: DifferenceRow[];
  /** As they are to be reported: open ones as seen, the others as ended. */
  readonly published: DifferenceRow[];
  /** What a maintenance window makes part of the baseline, and what it takes from it. */
  readonly taken: FactRow[];
  readonly dropped: FactKey[];
}

/** A server or gateway that appears is an attack while it lasts: these are not held back until they are found again. */
const AT_ONCE: ReadonlySet<string> = new Set(["dhcp_server", "gateway", "dns_server"] satisfies Found["kind"][]);

/**
 * Brings the stored differences of one baseline in line with those that were found now. A difference is reported when it is found a second
 * time, and its end when it is not found any more.
 * @param undecided Names of facts of which nothing can be said now: what is stored of them stays.
 * @param standing The baseline's differences that have not ended.
 */
export function moveDifferences(
  owner: DifferenceOwner, { differences, undecided }: { readonly differences: readonly Found[]; readonly undecided: ReadonlySet<string> },
  standing: readonly DifferenceRow[], judgement: Judgement,
): Transition {
  const to: Transition = { added: [], changed: [], published: [], taken: [], dropped: [] };
  const known = new Map(standing.map((row) => [`${row.kind} ${row.key}`, row]));
  const met = new Set<string>();
  for (const found of differences) {
    const name = factName(found);
    met.add(name);
    move(to, found, { owner, before: known.get(name), judgement });
  }
  for (const [name, row] of known) if (!met.has(name) && !undecided.has(name)) end(to, row, judgement.at);
  return to;
}

/** Ends a difference: its baseline or its device has gone, or the like. */
export function endDifference(row: DifferenceRow, at: string): Transition {
  const to: Transition = { added: [], changed: [], published: [], taken: [], dropped: [] };
  end(to, row, at);
  return to;
}

function move(to: Transition, found: Found, { owner, before, judgement }: {
  readonly owner: DifferenceOwner; readonly before: DifferenceRow | undefined; readonly judgement: Judgement;
}): void {
  const { at, window, room } = judgement;
  const severity = judgement.severityOf(found);
  if (severity === null) {
    if (before) end(to, before, at);
    return;
  }
  const row = rowOf(found, { owner, before, severity, at });
  const acceptanceId = judgement.acceptanceOf(found);
  if (acceptanceId !== null) {
    if (before) {
      if (before.state !== "accepted" || before.acceptance_id !== acceptanceId) to.changed.push({ ...row, state: "accepted", acceptance_id: acceptanceId });
      if (isReported(before)) to.published.push({ ...before, state: "accepted" });
    } else if (to.added.length < room) to.added.push({ ...row, state: "accepted", acceptance_id: acceptanceId });
    return;
  }
  if (window?.effect === "learn" && found.outcome !== "not_checked" && !judgement.isRogue(found)) {
    const fact = factTaken(row, { source: "window", author: window.author, reason: window.reason }, at);
    if (fact) to.taken.push(fact);
    else to.dropped.push(row);
    if (before) end(to, before, at);
    return;
  }
  const state = stateOf(found, before, window);
  const next: DifferenceRow = { ...row, state, acceptance_id: null };
  // Nothing is reported in a window: what has changed in it is compared with what was reported before, when it is over.
  if (window && before?.state === "open" && !isSame(before, next)) return;
  if (!before) {
    if (to.added.length >= room) return;
    to.added.push(next);
  } else if (isChanged(before, next)) to.changed.push(next);
  const wasReported = before !== undefined && isReported(before);
  // Alerts are of one outcome each. Of a fact that nobody looks for any more none stays: it is listed.
  if (wasReported && before.outcome !== next.outcome) to.published.push({ ...before, state: "ended" });
  if (isReported(next) && !(wasReported && isSame(before, next))) to.published.push(next);
}

function stateOf(found: Found, before: DifferenceRow | undefined, window: WindowNow | null): DifferenceRow["state"] {
  if (found.outcome === "not_checked" || before?.state === "open") return "open";
  if (window) return "held";
  if (AT_ONCE.has(found.kind)) return "open";
  return before ? "open" : "pending";
}

function rowOf(found: Found, { owner, before, severity, at }: {
  readonly owner: DifferenceOwner; readonly before: DifferenceRow | undefined; readonly severity: Severity; readonly at: string;
}): DifferenceRow {
  const { kind, key, outcome, expected, observed, expectedAt, observedAt } = found;
  const { tenantId, siteId, baselineId, deviceId } = owner;
  return {
    id: before?.id ?? createId(), tenant_id: tenantId, site_id: siteId, device_id: deviceId, baseline_id: baselineId, kind, key, outcome,
    expected: expected.slice(0, MAX_TEXT), observed: observed.slice(0, MAX_TEXT), expected_at: expectedAt, observed_at: observedAt, severity,
    state: before?.state ?? "pending", first_seen: before?.first_seen ?? at, last_seen: at, ended_at: null,
    acceptance_id: before?.acceptance_id ?? null, open_key: openKeyOf({ baseline_id: baselineId, kind, key }),
  };
}

const MAX_TEXT = 1024;
/** So often what is still so is written down again. */
const RENEW_MS = 3_600_000;

function end(to: Transition, row: DifferenceRow, at: string): void {
  const next: DifferenceRow = { ...row, state: "ended", last_seen: at, ended_at: at, open_key: null };
  to.changed.push(next);
  if (isReported(row)) to.published.push(next);
}

/** Whether an alert may stand for it. */
function isReported({ state, outcome }: DifferenceRow): boolean {
  return state === "open" && outcome !== "not_checked";
}

function isSame(a: DifferenceRow, b: DifferenceRow): boolean {
  return a.outcome === b.outcome && a.observed === b.observed && a.expected === b.expected && a.severity === b.severity;
}

function isChanged(before: DifferenceRow, next: DifferenceRow): boolean {
  return before.state !== next.state || before.acceptance_id !== next.acceptance_id || !isSame(before, next)
    || Date.parse(next.last_seen) - Date.parse(before.last_seen) >= RENEW_MS;
}
