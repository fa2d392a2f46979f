import type { EventData } from "@lanthorn/contract";
import type { AppendedEvent, NewEvent, ReactionContext } from "../../../events/log.ts";
import type { Reaction } from "../../../events/reaction.ts";
import { loadAlertIds } from "./alert-ids.ts";
import { addReport, createDraft, type Draft, loadDrafts, repeatDraft, resolveDraft, saveDrafts } from "./drafts.ts";
import { isMuted } from "./mutes.ts";
import { type AlertRow, mutesAt, onlineProbes } from "./store.ts";
import type { Finding } from "./finding.ts";
import { endReport, mayEnd } from "./reporters.ts";
import { ALERTING_TYPES, type AlertingType } from "./rules.ts";
import { LIMIT_TYPE, limitOf, loadOpenLimit } from "./open-limit.ts";
import { loadStormCap, STORM_TYPE, summaryOf } from "./storm-cap.ts";
import { openKey, type Verdict, verdictsOf } from "./verdicts.ts";

type Trx = Parameters<Reaction<AlertingType>["react"]>[0];

/**
 * Raises, repeats and ends alerts by what events say. The open alerts are read once for all events of a batch.
 *
 * `alert_created` is raised once for each alert, by the first event that is neither late nor muted; `alert_resolved` for
 * each that was reported so. When too many alerts begin, or too many are reported at once, one summary counts them.
 * @param options.maxOpen Open alerts of one type at one site that events may raise.
 */
export function createAlertReaction(options: { readonly maxOpen: number }): Reaction<AlertingType> {
  return { types: ALERTING_TYPES, react: (trx, context, events) => raiseAlerts(trx, context, events, options) };
}

async function raiseAlerts(
  trx: Trx, { tenantId, raise: raiseEvent }: ReactionContext, events: readonly AppendedEvent<AlertingType>[],
  options: { readonly maxOpen: number },
): Promise<void> {
  const verdicts = events.flatMap(verdictsOf);
  if (verdicts.length === 0) return;
  const open = await loadDrafts(trx, keysOf(verdicts));
  const fresh = verdicts.filter((verdict) => verdict.finding && isNews(open.get(verdict.key), verdict));
  const cap = await loadStormCap(trx, tenantId, fresh);
  const limit = await loadOpenLimit(trx, fresh.filter(({ key }) => !open.has(key)), options.maxOpen);
  const mutes = verdicts.some(({ finding }) => finding) ? await mutesAt(trx, tenantId, latestOf(verdicts)) : [];
  const online = await onlineProbes(trx, reportersOf(verdicts, open));
  const ids = await loadAlertIds(trx, verdicts);
  const drafts: Draft[] = [...open.values()];

  const raise = (finding: Finding, verdict: Verdict, key: string): Draft => {
    let draft = open.get(key);
    if (draft) repeatDraft(draft, finding, verdict);
    else {
      draft = createDraft(finding, verdict, { id: ids.take(finding, verdict), key });
      open.set(key, draft);
      drafts.push(draft);
    }
    return draft;
  };
  const tell = ({ row }: Draft, { event, at }: Verdict) => {
    if (event.isLate) return;
    row.live_at ??= event.received_at;
    if (row.notified === 1 || isMuted(mutes, row)) return;
    row.notified = 1;
    raiseEvent(alertEvent(row, at, event.received_at));
  };
  const summarize = (summary: Finding, verdict: Verdict) => tell(raise(summary, verdict, openKey(verdict.event, summary)), verdict);
  const end = (known: Draft, verdict: Verdict) => {
    const { event, key, at, last } = verdict;
    if (!mayEnd(known.reporters, event.probe_id)) return;
    if (last) addReport(known, last, verdict);
    if (!endReport(known.reporters, event.probe_id, (probeId) => online.has(probeId))) return;
    resolveDraft(known, event.type, at);
    open.delete(key);
    if (known.row.notified === 1) raiseEvent(alertEvent(known.row, at, event.received_at));
  };
  for (const verdict of verdicts) {
    const { finding, key } = verdict;
    const known = open.get(key);
    if (!finding) {
      if (known) end(known, verdict);
      continue;
    }
    if (!isNews(known, verdict)) {
      tell(raise(finding, verdict, key), verdict);
      continue;
    }
    const isStorm = finding.isCapped && cap.isReached(verdict, finding.type);
    const isFull = !known && limit.isReached(verdict, finding.type);
    // One that only late events have begun goes on being counted, and stays untold.
    if (known && isStorm) raise(finding, verdict, key);
    if (isStorm) summarize(summaryOf(finding), verdict);
    else if (isFull) summarize(limitOf(finding, options.maxOpen), verdict);
    else {
      cap.note(verdict, finding.type);
      if (!known) limit.note(verdict, finding.type);
      tell(raise(finding, verdict, key), verdict);
    }
  }
  await saveDrafts(trx, drafts);
}

/** Whether it begins an alert, or is the first live word of one that only late events have begun. */
function isNews(known: Draft | undefined, { event }: Verdict): boolean {
  return !known || (!event.isLate && known.row.live_at === null && known.row.notified === 0);
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
  const summaries = verdicts.flatMap(({ event, finding }) =>
    (finding ? [STORM_TYPE, LIMIT_TYPE].map((type) => openKey(event, { type, subject: finding.type })) : []));
  return [...new Set([...verdicts.map(({ key }) => key), ...summaries])];
}

/** Who reports what another probe says is gone: those of the events too, which may be in one batch with the end. */
function reportersOf(verdicts: readonly Verdict[], open: ReadonlyMap<string, Draft>): readonly string[] {
  const ended = new Set(verdicts.flatMap(({ finding, key }) => (finding ? [] : [key])));
  const noted = [...ended].flatMap((key) => [...(open.get(key)?.reporters.keys() ?? [])]);
  const reporting = verdicts.flatMap(({ key, event }) => (event.probe_id !== null && ended.has(key) ? [event.probe_id] : []));
  return [...new Set([...noted, ...reporting])];
}

/** When the newest of the events was received. */
function latestOf(verdicts: readonly Verdict[]): string {
  return verdicts.reduce((latest, { event }) => (event.received_at > latest ? event.received_at : latest), "");
}
