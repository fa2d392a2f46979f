import { type Clock, createId, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import { settleChanges } from "../../../software/changes-store.ts";
import type { Allowance } from "./allowance.ts";
import { type Evidence, hostCpes, toEvidence } from "./evidence.ts";
import type { Judging, KnownSoftware } from "./judging.ts";
import { type AssignmentRow, assignmentsOf, endAssignments, findSoftware, noteReports, putAssignments } from "./store/match-rows.ts";
import { type ChangedDevice, changedDevices, type FoundSoftware, holdDevices, nextTenant, softwareOfDevices } from "./store/queue.ts";

/** What taking in changes needs. */
export interface TakeDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly judging: Judging;
  readonly allowance: Allowance;
}

/** Devices whose assignments are written in one transaction. */
const DEVICES = 16;
/** What a tenant may take of judging before the next one has its turn. */
const TURN_MS = 500;

/**
 * Takes in the software of changed devices: judges what was never judged, and writes what runs where. Tenants take turns.
 * @param options.failed Is called with a tenant whose devices could not be taken in; the others go on.
 * @returns How many devices were taken in; null where there is no CVE database, and all wait for one.
 */
export async function takeChanges(
  deps: TakeDependencies, { stopped, failed }: { readonly stopped: AbortSignal; readonly failed: (error: unknown) => void },
): Promise<number | null> {
  const { reads, allowance } = deps;
  let [total, tenantId, isIdle]: [number, string, boolean] = [0, "", true];
  const broken = new Set<string>();
  while (!stopped.aborted) {
    const next = await nextTenant(reads, tenantId);
    if (next === null) {
      if (isIdle) return total;
      [tenantId, isIdle] = ["", true];
      continue;
    }
    tenantId = next;
    if (broken.has(next) || allowance.isSpent(next)) continue;
    const changes = await changedDevices(reads, next, { limit: DEVICES, except: allowance.spentDevices(next) });
    if (changes.length === 0) continue;
    try {
      const taken = await takeDevices(deps, next, changes);
      if (taken === null) return null;
      total += taken;
      isIdle = false;
    } catch (error) {
      broken.add(next);
      failed(error);
    }
    await nextTurn();
  }
  return total;
}

type FoundEvidence = FoundSoftware & { readonly evidence: Evidence };

async function takeDevices(deps: TakeDependencies, tenantId: string, changes: readonly ChangedDevice[]): Promise<number | null> {
  const { reads, db, clock, judging, allowance } = deps;
  const found = await readEvidenceOf(reads, changes.map(({ device_id: id }) => id));
  const known = new Map<string, KnownSoftware>();
  for (const one of await findSoftware(db, [...new Set(found.map(({ evidence }) => evidence.fingerprint))])) known.set(one.fingerprint, one);
  const until = clock.monotonic() + TURN_MS;
  const waiting = new Set<string>();
  for (const { evidence, device_id: deviceId } of found) {
    if (known.has(evidence.fingerprint) || waiting.has(deviceId)) continue;
    // What was judged stays, so that a turn that is over goes on with the rest.
    if (clock.monotonic() > until || allowance.spentDevices(tenantId).includes(deviceId)) {
      waiting.add(deviceId);
      continue;
    }
    const added = await judging.add(evidence);
    if (added === null) return null;
    known.set(evidence.fingerprint, added);
    allowance.took(tenantId, deviceId);
  }
  const ready = changes.filter(({ device_id: id }) => !waiting.has(id));
  if (ready.length > 0) await writeAssignments(deps, tenantId, ready, found.filter(({ device_id: id }) => !waiting.has(id)).map((one) => ({ ...one, software: known.get(one.evidence.fingerprint) })));
  return changes.length;
}

async function readEvidenceOf(reads: Kysely<Schema>, deviceIds: readonly string[]): Promise<readonly FoundEvidence[]> {
  const { found, systems } = await softwareOfDevices(reads, deviceIds);
  const byDevice = groupBy(found);
  return [...byDevice].flatMap(([id, rows]) => {
    const host = hostCpes(rows, systems.get(id) ?? "");
    return rows.map((row) => ({ ...row, evidence: toEvidence(row, host) }));
  });
}

function groupBy(found: readonly FoundSoftware[]): ReadonlyMap<string, readonly FoundSoftware[]> {
  const groups = new Map<string, FoundSoftware[]>();
  for (const row of found) {
    const group = groups.get(row.device_id);
    if (group) group.push(row);
    else groups.set(row.device_id, [row]);
  }
  return groups;
}

async function writeAssignments(
  { db, clock }: TakeDependencies, tenantId: string, changes: readonly ChangedDevice[], found: readonly (FoundSoftware & { readonly software: KnownSoftware | undefined })[],
): Promise<void> {
  const at = toInstant(clock.now());
  await db.transaction().execute(async (trx) => {
    const devices = await holdDevices(trx, changes.map(({ device_id: id }) => id));
    const wanted = new Map<string, AssignmentRow>();
    for (const { device_id, service_key, port, protocol, service, software } of found) {
      // What names no product concerns no CVE.
      if (!software || software.product === "" || !devices.has(device_id)) continue;
      wanted.set(keyOf({ device_id, service_key, software_id: software.id }), {
        id: createId(), tenant_id: tenantId, device_id, service_key, port, protocol, service, software_id: software.id, product: software.product, since: at, until: null,
      });
    }
    const before = await assignmentsOf(trx, [...devices]);
    const there = new Set(before.map(keyOf));
    const gone = before.filter((row) => !wanted.has(keyOf(row)));
    const added = [...wanted.values()].filter((row) => !there.has(keyOf(row)));
    await endAssignments(trx, gone.map(({ id }) => id), at);
    await putAssignments(trx, added);
    const reports = new Map([...gone, ...added].map(({ device_id, product }) => [`${device_id} ${product}`, { device_id, product, tenant_id: tenantId, due: createId() }]));
    await noteReports(trx, [...reports.values()]);
    await settleChanges(trx, changes);
  });
}

function keyOf({ device_id: deviceId, service_key: key, software_id: softwareId }: Pick<AssignmentRow, "device_id" | "service_key" | "software_id">): string {
  return `${deviceId} ${key} ${softwareId}`;
}
