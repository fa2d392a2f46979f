import type { EventData } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../db/schema.ts";
import type { AppendedEvent, ReactionContext } from "../../events/log.ts";
import type { Reaction } from "../../events/reaction.ts";
import { NO_COUNTERS } from "./requests.ts";
import type { PcapRow } from "./store/pcaps-store.ts";
import { knownPcaps, makePlaces, type QuotaRow, quotaOf, savePcaps, saveQuota, startedFiles } from "./store/reaction-store.ts";

type Recorded = AppendedEvent<"pcap_recorded">;

/** What a probe may have here. */
export interface PcapQuota {
  /** New captures that a probe may report within 24 hours; of known ones it may say more ten times as often. */
  readonly dayRecords: number;
  /** Captures of a probe that are remembered, beside those that a person has requested, locked or deleted. */
  readonly records: number;
}

const DAY_MS = 86_400_000;
/** A probe says of a capture that it runs, that it is whole, and which further alerts it has; this many times is more than that. */
const MAX_UPDATES = 10;
/** Longer than probes keep files. */
const GONE_DAYS = 45;
/** Of each kind; a capture's own list has all. */
const MAX_LINKS = 16;

/**
 * Remembers what probes say of their captures. A probe's word counts for its own captures alone; what is beyond its quota is counted and
 * not kept, and one event a day says so.
 * @param deps.nudge Called when a file may be waiting for what was said of it. The transaction is still open then.
 */
export function createPcapReaction(deps: { readonly quota: PcapQuota; readonly nudge: () => void }): Reaction<"pcap_recorded"> {
  return {
    types: ["pcap_recorded"],
    async react(trx, context, events) {
      const ofProbe = new Map<string, Recorded[]>();
      for (const event of events) {
        if (event.probe_id === null || event.site_id === null) continue;
        const others = ofProbe.get(event.probe_id);
        if (others) others.push(event);
        else ofProbe.set(event.probe_id, [event]);
      }
      for (const [probeId, own] of ofProbe) await takeFromProbe(trx, context, probeId, own, deps.quota);
      deps.nudge();
    },
  };
}

async function takeFromProbe(trx: Transaction<Schema>, { tenantId, raise }: ReactionContext, probeId: string, events: readonly Recorded[], limits: PcapQuota): Promise<void> {
  const last = events.at(-1);
  if (!last) return;
  const ids = [...new Set(events.map(({ data }) => data.pcap_id))];
  const before = new Map((await knownPcaps(trx, ids)).map((row) => [row.id, row]));
  const known = new Map(before);
  const files = await startedFiles(trx, probeId, ids);
  const quota = dayOf(await quotaOf(trx, probeId), { probeId, tenantId, now: last.received_at });
  const [added, changed] = [new Map<string, PcapRow>(), new Map<string, PcapRow>()];
  let refused = 0;
  const wanted = Math.min(ids.length - known.size, limits.dayRecords - quota.day_records);
  let places = wanted <= 0 ? 0 : await makePlaces(trx, probeId, {
    most: limits.records, wanted, goneBefore: toInstant(Date.parse(last.received_at) - GONE_DAYS * DAY_MS),
  });
  for (const event of events) {
    const { pcap_id: id } = event.data;
    const row = known.get(id) ?? added.get(id);
    if (row && (row.probe_id !== probeId || row.deleted_at !== null)) refused += row.deleted_at === null ? 1 : 0;
    else if (row && quota.day_updates >= limits.dayRecords * MAX_UPDATES) refused += 1;
    else if (row) {
      quota.day_updates += 1;
      const updated = withReport(row, event, files.has(id));
      (added.has(id) ? added : changed).set(id, updated);
      if (known.has(id)) known.set(id, updated);
    } else if (quota.day_records >= limits.dayRecords || places <= 0) refused += 1;
    else {
      places -= 1;
      quota.day_records += 1;
      added.set(id, withReport(newRow(event), event, files.has(id)));
    }
  }
  const relinked = [...changed.values()].filter((row) => isLinkedOtherwise(row, before.get(row.id)));
  await savePcaps(trx, {
    added: [...added.values()], changed: [...changed.values()], linked: relinked.map(({ id }) => id), links: [...added.values(), ...relinked].flatMap(linksOf),
  });
  quota.refused += refused;
  if (refused > 0 && (quota.reported_at === null || Date.parse(last.received_at) - Date.parse(quota.reported_at) >= DAY_MS)) {
    quota.reported_at = last.received_at;
    raise({
      type: "error", siteId: last.site_id, probeId, deviceId: null, queueId: null, probeSeq: null, occurredAt: last.received_at,
      receivedAt: last.received_at, data: { code: "pcap-quota", message: wordsOf(quota.refused, limits) } satisfies EventData<"error">,
    });
  }
  await saveQuota(trx, quota);
}

function wordsOf(refused: number, { dayRecords, records }: PcapQuota): string {
  return `The probe reports more captures than it may (${dayRecords} a day, ${records} in all), or captures under ids of others. ${refused} reports were not kept. `
    + "Look at what it reports; if it is as it should be, raise pcap.keep_records.";
}

type Quota = { -readonly [K in keyof QuotaRow]: QuotaRow[K] };

function dayOf(row: QuotaRow | null, { probeId, tenantId, now }: { readonly probeId: string; readonly tenantId: string; readonly now: string }): Quota {
  if (row && Date.parse(now) - Date.parse(row.day_began_at) < DAY_MS) return { ...row };
  return {
    probe_id: probeId, tenant_id: tenantId, day_began_at: now, day_records: 0, day_updates: 0, refused: row?.refused ?? 0, reported_at: row?.reported_at ?? null,
  };
}

/** What is locked was counted with its size, and is evidence as it is. */
function isOtherEvidence({ locked_at: lockedAt, sha256 }: PcapRow, data: Recorded["data"]): boolean {
  return lockedAt !== null && sha256 !== "" && data.sha256 !== sha256;
}

function newRow({ data, tenant_id: tenantId, site_id: siteId, probe_id: probeId, received_at: at }: Recorded): PcapRow {
  return {
    id: data.pcap_id, tenant_id: tenantId, site_id: siteId ?? "", probe_id: probeId ?? "", trigger: data.trigger, state: "recording", detail: "", is_cut: 0,
    file_name: "", size_bytes: 0, sha256: "", packets: 0, started_at: null, finished_at: null, interfaces: "[]", filter: "", snap_length: 0,
    headers_only: 0, counters: JSON.stringify(NO_COUNTERS), alert_ids: "[]", macs: "[]", ips: "[]", summary: null, limits: null, requested_by: null, happened_at: at,
    created_at: at, updated_at: at, locked_by: null, locked_at: null, lock_reason: null, stored_at: null, stored_bytes: 0, key_sealed: null,
    deleted_at: null, deletion_heard: 0,
  };
}

/** What a capture is whose probe says this of it, as long as nothing of its file is here. */
const STATES = { recording: "recording", whole: "at_probe", cut: "at_probe", failed: "failed", removed: "expired" } as const;

/** A capture with what its probe says of it now. Of a file that is here or has gone again, only further alerts count. */
function withReport(row: PcapRow, { data, received_at: at }: Recorded, isFileHere: boolean): PcapRow {
  const alerts = [...new Set([...JSON.parse(row.alert_ids) as string[], ...data.alert_ids])].slice(0, 64);
  if (row.stored_at !== null || row.state === "expired" || isOtherEvidence(row, data)) return { ...row, alert_ids: JSON.stringify(alerts) };
  // A file that is on its way comes all the same.
  if (data.state === "removed" && isFileHere) return { ...row, alert_ids: JSON.stringify(alerts) };
  const isWhole = data.state !== "recording" && data.state !== "failed";
  const startedAt = data.started_at ?? row.started_at;
  return {
    ...row, detail: data.detail, is_cut: data.state === "cut" || (data.state === "removed" && row.is_cut === 1) ? 1 : 0, file_name: data.file_name.replaceAll(/[^\w.+-]+/g, "_"),
    state: isFileHere && isWhole ? "uploading" : STATES[data.state],
    size_bytes: isWhole ? data.size_bytes : 0, sha256: isWhole ? data.sha256 : "", packets: data.packets, started_at: startedAt, finished_at: data.finished_at,
    interfaces: JSON.stringify(data.interfaces), filter: data.filter, snap_length: data.snap_length, headers_only: data.headers_only ? 1 : 0,
    counters: JSON.stringify(data.counters), alert_ids: JSON.stringify(alerts), macs: JSON.stringify(data.macs), ips: JSON.stringify(data.ips),
    summary: data.summary === null ? row.summary : JSON.stringify(data.summary),
    happened_at: startedAt !== null && startedAt < row.happened_at ? startedAt : row.happened_at, updated_at: at,
  };
}

function isLinkedOtherwise(row: PcapRow, before: PcapRow | undefined): boolean {
  return row.alert_ids !== before?.alert_ids || row.macs !== before.macs || row.ips !== before.ips;
}

function linksOf(row: PcapRow) {
  const links = (kind: string, values: string, most: number) => (JSON.parse(values) as string[]).slice(0, most)
    .map((value) => ({ pcap_id: row.id, tenant_id: row.tenant_id, kind, value }));
  return [...links("alert", row.alert_ids, 64), ...links("mac", row.macs, MAX_LINKS), ...links("ip", row.ips, MAX_LINKS)];
}
