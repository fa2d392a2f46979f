import type { AlertEvidence, Severity } from "@lanthorn/contract";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { type AlertRow, openAlerts, saveAlerts } from "./store.ts";
import { noteReport, readReporters, type Reporters, writeReporters } from "./reporters.ts";
import type { Finding } from "./finding.ts";
import type { Verdict } from "./verdicts.ts";

/** An alert while a batch of events is looked at; written once at the end. */
export interface Draft {
  readonly row: { -readonly [K in keyof AlertRow]: AlertRow[K] };
  readonly isNew: boolean;
  isChanged: boolean;
  /** The row's, when it is written. */
  readonly reporters: Reporters;
}

const SEVERITY_RANKS: Readonly<Record<Severity, number>> = { critical: 4, high: 3, medium: 2, low: 1, info: 0 };

/** The first event, which may hold packets, and the last ones. */
const MAX_EVIDENCE = 5;
const MAX_TITLE_LENGTH = 255;
/** What the column takes. */
const MAX_COUNT = 2_147_483_647;

/** The alerts that are open under these keys. */
export async function loadDrafts(trx: Transaction<Schema>, keys: readonly string[]): Promise<Map<string, Draft>> {
  const rows = await openAlerts(trx, keys);
  return new Map(rows.map((row) => [row.open_key ?? "", {
    row, isNew: false, isChanged: false, reporters: readReporters(row.reporters),
  }]));
}

/** A new open alert from its first event, not yet written. Its title is cut at 255 characters. */
export function createDraft(finding: Finding, { event, data, at }: Verdict, { id, key }: { readonly id: string; readonly key: string }): Draft {
  const reporters: Reporters = new Map();
  const times = noteReport(reporters, event.probe_id, finding.seen);
  return {
    isNew: true, isChanged: true, reporters,
    row: {
      id, tenant_id: event.tenant_id, site_id: event.site_id, device_id: event.device_id, device_ip: finding.deviceIp ?? "",
      probe_id: event.probe_id,
      source: finding.source, type: finding.type, subject: finding.subject, open_key: key, severity: finding.severity,
      severity_rank: SEVERITY_RANKS[finding.severity], title: finding.title.slice(0, MAX_TITLE_LENGTH), description: finding.description,
      status: "open", count: finding.state?.count ?? Math.min(times, MAX_COUNT), first_seen: at, last_seen: at, evidence: JSON.stringify([evidenceOf(event, data)]), reporters: "{}",
      mitre_techniques: JSON.stringify(finding.techniques ?? []),
      notified: 0, live_at: null, quiet_at: quietAt(finding, event.received_at), acknowledged_by: null, acknowledged_at: null, resolved_by: null,
      resolved_at: null,
    },
  };
}

/** The same once more. */
export function repeatDraft(draft: Draft, finding: Finding, verdict: Verdict): void {
  const { row } = draft;
  const { event, at } = verdict;
  addReport(draft, finding, verdict);
  if (at > row.last_seen) row.last_seen = at;
  row.device_id ??= event.device_id;
  row.quiet_at = quietAt(finding, event.received_at);
}

/** What an event says of it: counted, the newest evidence, and graver where it is, never milder. */
export function addReport(draft: Draft, finding: Finding, { event, data }: Verdict): void {
  const { row } = draft;
  const { packets: _, ...plain } = data;
  const [first, ...others] = JSON.parse(row.evidence) as AlertEvidence[];
  row.evidence = JSON.stringify([...(first ? [first] : []), ...[...others, evidenceOf(event, plain)].slice(1 - MAX_EVIDENCE)]);
  row.count = finding.state?.count ?? Math.min(row.count + noteReport(draft.reporters, event.probe_id, finding.seen), MAX_COUNT);
  if (finding.state) row.mitre_techniques = JSON.stringify(finding.techniques ?? []);
  if (finding.state || SEVERITY_RANKS[finding.severity] > row.severity_rank) {
    row.severity = finding.severity;
    row.severity_rank = SEVERITY_RANKS[finding.severity];
    row.title = finding.title.slice(0, MAX_TITLE_LENGTH);
    row.description = finding.description;
  }
  draft.isChanged = true;
}

/** Ended: the next of its kind is another alert. */
export function resolveDraft(draft: Draft, by: string, at: string): void {
  Object.assign(draft.row, { status: "resolved", open_key: null, quiet_at: null, resolved_by: by, resolved_at: at });
  draft.isChanged = true;
}

/** Writes what has changed. */
export async function saveDrafts(trx: Transaction<Schema>, drafts: readonly Draft[]): Promise<void> {
  for (const { row, reporters } of drafts) row.reporters = writeReporters(reporters);
  const changed = drafts.filter((draft) => draft.isChanged && !draft.isNew).map(({ row }) => row);
  await saveAlerts(trx, { changed, added: drafts.filter((draft) => draft.isNew).map(({ row }) => row) });
}

function evidenceOf(event: Verdict["event"], data: AlertEvidence["data"]): AlertEvidence {
  return { event_id: event.id, event: event.type, occurred_at: event.occurred_at, data };
}

function quietAt({ quietMs }: Finding, receivedAt: string): string | null {
  return quietMs === null ? null : new Date(Date.parse(receivedAt) + quietMs).toISOString();
}
