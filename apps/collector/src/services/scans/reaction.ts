import type { EventData, Scan } from "@lanthorn/contract";
import type { Transaction } from "kysely";
import { addressKey } from "../../db/keys/address-key.ts";
import type { Schema } from "../../db/schema.ts";
import type { AppendedEvent, ReactionContext } from "../../events/log.ts";
import type { Reaction } from "../../events/reaction.ts";
import { saveScopes } from "./looks/store.ts";
import { type LookedHost, scopeRow, takeLooks } from "./looks/take-looks.ts";
import { type Found, loadScans, raiseCounts, saveFound, saveScan, type ScanRow } from "./reaction-store.ts";
import { refuseResult } from "./result-bounds.ts";

/** A network full of tarpits needs no line for each. */
const MAX_REMARKS = 100;

type Facts =
  | "scan_started" | "scan_progress" | "scan_results" | "scan_remark" | "scan_complete" | "scan_failed" | "scan_cancelled" | "port_found";
type Draft = { -readonly [K in keyof ScanRow]: ScanRow[K] };

interface Fact<T extends Facts> {
  readonly scan: Draft;
  readonly data: EventData<T>;
  /** When it happened, by our clock. */
  readonly at: string;
  readonly receivedAt: string;
  readonly found: Found;
}

/** What each event changes of a scan. A scan that has ended keeps how it ended, unless that was only presumed. */
const CHANGES: { readonly [T in Facts]: (fact: Fact<T>) => void } = {
  scan_started({ scan, data, at, receivedAt, found }) {
    if (!isOpen(scan)) return;
    run(scan, at);
    scan.hosts_total = data.hosts_total;
    const { ports } = data;
    // The first word counts: a probe must not make a list for each time that it says it.
    if (!ports || ports.tcp + ports.udp === "" || scan.scope_id !== null) return;
    const scope = scopeRow(scan, ports, receivedAt);
    found.scopes.set(scope.id, scope);
    scan.scope_id = scope.id;
  },
  scan_progress({ scan, data, at }) {
    if (!isOpen(scan)) return;
    run(scan, at);
    count(scan, data);
    scan.progress = Math.max(scan.progress, data.progress);
  },
  scan_results({ scan, data, at, receivedAt, found }) {
    for (const { ip, mac, port_counts: counts } of data.hosts) {
      const key = addressKey(ip);
      if (!mayBeFound(scan, ip, key)) continue;
      const before = found.hosts.get(`${scan.id} ${key}`)?.port_counts;
      found.hosts.set(`${scan.id} ${key}`, {
        scan_id: scan.id, tenant_id: scan.tenant_id, ip, ip_key: key, mac, seen_at: at,
        port_counts: counts ? JSON.stringify(counts) : before ?? null,
      });
      if (counts && scan.scope_id !== null) lookedBy(found, scan.id).set(key, { ip, ip_key: key, mac, at, receivedAt });
    }
  },
  scan_remark({ scan, data }) {
    const { code, message, ip, mac, addresses } = data;
    addRemark(scan, { code, message, ip, mac, addresses });
  },
  scan_complete({ scan, data, at }) {
    count(scan, data);
    if (end(scan, "completed", at)) scan.progress = 1;
  },
  scan_failed({ scan, data, at }) {
    if (end(scan, "failed", at)) scan.error = data.reason;
  },
  scan_cancelled({ scan, data, at }) {
    count(scan, data);
    end(scan, "cancelled", at);
  },
  port_found({ scan, data, found }) {
    const { ip, port, protocol, state, service, version, banner } = data;
    const key = addressKey(ip);
    if (!mayBeFound(scan, ip, key)) return;
    found.ports.set(`${scan.id} ${key} ${port} ${protocol}`, {
      scan_id: scan.id, tenant_id: scan.tenant_id, ip_key: key, port, protocol, state, service, version, banner,
    });
  },
};

function lookedBy({ looked }: Found, scanId: string): Map<string, LookedHost> {
  const hosts = looked.get(scanId) ?? new Map<string, LookedHost>();
  looked.set(scanId, hosts);
  return hosts;
}

function addRemark(scan: Draft, remark: Scan["remarks"][number]): void {
  const known = JSON.parse(scan.remarks) as Scan["remarks"];
  const others = known.filter(({ code, ip, mac }) => code !== remark.code || ip !== remark.ip || mac !== remark.mac);
  scan.remarks = JSON.stringify([...others, remark].slice(0, MAX_REMARKS));
}

/** Counts one result, and says in a remark when it is none that this scan can have. */
function mayBeFound(scan: Draft, ip: string, key: string): boolean {
  const refusal = refuseResult(scan, ip, key);
  if (refusal === null) scan.stored_rows += 1;
  else if (!scan.remarks.includes(`"${refusal.code}"`)) addRemark(scan, { ...refusal, ip: "", mac: "", addresses: 0 });
  return refusal === null;
}

/** Keeps scans as their probes report them. */
export const scanReaction: Reaction<Facts> = {
  types: Object.keys(CHANGES) as readonly Facts[],
  async react(trx, { tenantId, raise }, events) {
    const facts = events.flatMap((event) => {
      const { scan_id: scanId } = event.data;
      // What the collector says of a scan itself it has already written down.
      return scanId === null || event.queue_id === null ? [] : [{ event, scanId }];
    });
    if (facts.length > 0) await applyFacts(trx, { tenantId, raise }, facts);
  },
};

async function applyFacts(
  trx: Transaction<Schema>, { tenantId, raise }: Pick<ReactionContext, "tenantId" | "raise">,
  facts: readonly { readonly event: AppendedEvent<Facts>; readonly scanId: string }[],
): Promise<void> {
  const ids = [...new Set(facts.map(({ scanId }) => scanId))];
  const known = await loadScans(trx, tenantId, ids);
  const drafts = new Map(known.map((row: Draft) => [row.id, { scan: row, before: JSON.stringify(row) }]));
  const found: Found = { hosts: new Map(), ports: new Map(), scopes: new Map(), looked: new Map() };
  for (const { event, scanId } of facts) {
    const scan = drafts.get(scanId)?.scan;
    // Only the scan's own probe knows of it.
    if (!scan || scan.probe_id !== event.probe_id) continue;
    scan.heard_at = event.received_at;
    (CHANGES[event.type] as (fact: object) => void)({ scan, data: event.data, at: event.seenAt, receivedAt: event.received_at, found });
  }
  for (const { scan, before } of drafts.values()) {
    if (JSON.stringify(scan) !== before) await saveScan(trx, scan);
  }
  await saveScopes(trx, [...found.scopes.values()]);
  await saveFound(trx, found);
  for (const [scanId, hosts] of found.looked) {
    const scan = drafts.get(scanId)?.scan;
    if (scan) await takeLooks(trx, scan, [...hosts.values()], raise);
  }
  // What was late for the scan's end counts too.
  for (const { scan } of drafts.values()) if (!isOpen(scan)) await raiseCounts(trx, scan.id);
}

function isOpen({ status, presumed }: Draft): boolean {
  return status === "queued" || status === "running" || presumed === 1;
}

function run(scan: Draft, at: string): void {
  Object.assign(scan, { status: "running", started_at: scan.started_at ?? at, finished_at: null, error: null, presumed: 0 });
}

/** @returns Whether it was open. */
function end(scan: Draft, status: "completed" | "failed" | "cancelled", at: string): boolean {
  if (!isOpen(scan)) return false;
  Object.assign(scan, { status, finished_at: at, error: null, presumed: 0 });
  return true;
}

function count(scan: Draft, data: { readonly hosts_total: number; readonly hosts_up: number; readonly ports_open: number }): void {
  scan.hosts_total = data.hosts_total;
  scan.hosts_up = data.hosts_up;
  scan.ports_open = data.ports_open;
}
