import type { EventData } from "@lanthorn/contract";
import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { EventLog, JustAppended, NewEvent } from "../../events/log.ts";
import { type AlertRow, createDraft, type Draft, loadDrafts, repeatDraft, resolveDraft, saveDrafts } from "./drafts.ts";
import { isMuted } from "./mutes.ts";
import type { Finding } from "./rules.ts";
import { loadStormCap, STORM_TYPE, summaryOf } from "./storm-cap.ts";
import { openKey, type Verdict, verdictsOf } from "./verdicts.ts";

/**
 * Raises, repeats and ends alerts by what events say, in the transaction that writes the events. Events of which no rule
 * speaks cost one look into the table of rules; else the open alerts are read once for all of them.
 *
 * `alert_created` is appended once for each alert, by the first event that is neither late nor muted; `alert_resolved` for
 * each of which that was said.
 */
export async function raiseAlerts(
  trx: Transaction<Schema>, tenantId: string, rows: readonly JustAppended[], log: Pick<EventLog, "append">,
): Promise<void> {
  const verdicts = rows.flatMap(verdictsOf);
  if (verdicts.length === 0) return;
  const open = await loadDrafts(trx, keysOf(verdicts));
  const fresh = verdicts.filter(({ finding, key }) => finding && !open.has(key));
  const cap = await loadStormCap(trx, tenantId, fresh);
  const mutes = verdicts.some(({ finding }) => finding) ? await loadMutes(trx, tenantId, verdicts) : [];
  const drafts: Draft[] = [...open.values()];
  const told: NewEvent[] = [];

  const raise = (finding: Finding, verdict: Verdict, key: string) => {
    let draft = open.get(key);
    if (draft) repeatDraft(draft, finding, verdict);
    else {
      draft = createDraft(finding, verdict, key);
      open.set(key, draft);
      drafts.push(draft);
    }
    const { row } = draft;
    if (row.notified === 1 || verdict.event.isLate || isMuted(mutes, row)) return;
    row.notified = 1;
    told.push(alertEvent(row, verdict.at, verdict.event.received_at));
  };
  for (const verdict of verdicts) {
    const { finding, key, event, at } = verdict;
    const known = open.get(key);
    if (!finding) {
      if (!known) continue;
      resolveDraft(known, event.type, at);
      open.delete(key);
      if (known.row.notified === 1) told.push(alertEvent(known.row, at, event.received_at));
      continue;
    }
    const begun = { siteId: event.site_id, type: finding.type, at };
    if (!known && finding.isCapped && cap.isReached(begun)) {
      const summary = summaryOf(finding);
      raise(summary, verdict, openKey(event, summary));
      continue;
    }
    if (!known) cap.note(begun);
    raise(finding, verdict, key);
  }
  await saveDrafts(trx, drafts);
  if (told.length > 0) await log.append(trx, tenantId, told);
}

/** `alert_resolved` of an alert that is resolved, else `alert_created`. */
export function alertEvent(row: AlertRow, occurredAt: string, receivedAt: string): NewEvent {
  const created: EventData<"alert_created"> = {
    alert_id: row.id, title: row.title, severity: row.severity as EventData<"alert_created">["severity"], device_ip: row.device_ip,
    type: row.type, source: row.source,
  };
  const origin = {
    siteId: row.site_id, probeId: row.probe_id, deviceId: row.device_id, queueId: null, probeSeq: null, occurredAt, receivedAt,
  };
  if (row.resolved_by === null) return { type: "alert_created", data: created, ...origin };
  return { type: "alert_resolved", data: { ...created, resolved_by: row.resolved_by } satisfies EventData<"alert_resolved">, ...origin };
}

function keysOf(verdicts: readonly Verdict[]): readonly string[] {
  const summaries = verdicts
    .flatMap(({ event, finding }) => (finding?.isCapped ? [openKey(event, { type: STORM_TYPE, subject: finding.type })] : []));
  return [...new Set([...verdicts.map(({ key }) => key), ...summaries])];
}

function loadMutes(trx: Transaction<Schema>, tenantId: string, verdicts: readonly Verdict[]) {
  const now = verdicts.reduce((latest, { event }) => (event.received_at > latest ? event.received_at : latest), "");
  return trx.selectFrom("alert_mutes").selectAll().where("tenant_id", "=", tenantId).where("expires_at", ">", now).execute();
}
