import { type Clock, createId, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { groupBy } from "../../../db/query/group-by.ts";
import { commitUnflushed } from "../../../db/query/unflushed.ts";
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
  /** Whether devices have changed since this was asked last. */
  readonly isWoken: () => boolean;
}

/** Devices that are looked at together, so that software of one product is judged one after the other. */
const AHEAD = 512;
/** Devices that are read at once, those whose assignments are written in one transaction, and software that is judged together. */
const [READ, WRITTEN, JUDGED] = [32, 64, 32];
/** Devices of each tenant that have just changed, and come before all that wait. */
const NEWEST = 4;
/** Rows that are written between two turns of the event loop. */
const TURN = 64;
/** What a tenant may take of judging before the next one has its turn. */
const TURN_MS = 1000;

/**
 * Takes in the software of changed devices: judges what was never judged, and writes what runs where. Tenants take turns, and what changes meanwhile does
 * not wait for all that waits already.
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
    const changes = await changedDevices(reads, next, { limit: AHEAD, except: allowance.spentDevices(next) });
    if (changes.length === 0) continue;
    try {
      const taken = await takeDevices(deps, next, { changes, between: () => takeNewest(deps, { stopped, taking: changes }) });
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

/**
 * Takes in what has changed last, of each tenant a little. What fails waits for its turn.
 * @param options.taking What is being taken in: where that is little, it is as soon done as begun again.
 */
async function takeNewest(deps: TakeDependencies, { stopped, taking }: { readonly stopped: AbortSignal; readonly taking: readonly ChangedDevice[] }): Promise<void> {
  const { reads, allowance, judging } = deps;
  if (!deps.isWoken()) return;
  // What the thread has begun for the turn that is interrupted stays begun.
  const nested = { ...deps, judging: { ...judging, begin: () => {} } };
  const own = taking.length > NEWEST ? [] : taking.map(({ device_id: id }) => id);
  for (let tenantId = await nextTenant(reads, ""); tenantId !== null && !stopped.aborted; tenantId = await nextTenant(reads, tenantId)) {
    const except = [...allowance.spentDevices(tenantId), ...own];
    const changes = allowance.isSpent(tenantId) ? [] : await changedDevices(reads, tenantId, { limit: NEWEST, except, isNewestFirst: true });
    await takeDevices(nested, tenantId, { changes, between: async () => {} }).catch(() => null);
  }
}

/** Devices whose software is taken in together. */
interface TakeWork {
  readonly changes: readonly ChangedDevice[];
  /** Is called between two pieces of the work. */
  readonly between: () => Promise<void>;
}

type FoundEvidence = FoundSoftware & { readonly evidence: Evidence };

async function takeDevices(deps: TakeDependencies, tenantId: string, { changes, between }: TakeWork): Promise<number | null> {
  const { reads, db } = deps;
  const found: FoundEvidence[] = [];
  const known = new Map<string, KnownSoftware>();
  for (const part of inParts(changes, READ)) {
    const some = await readEvidenceOf(reads, part.map(({ device_id: id }) => id));
    const unread = [...new Set(some.map(({ evidence }) => evidence.fingerprint))].filter((fingerprint) => !known.has(fingerprint));
    for (const one of await findSoftware(db, unread)) known.set(one.fingerprint, one);
    found.push(...some);
    if (part.length === READ) await nextTurn();
  }
  const waiting = await judgeUnknown(deps, tenantId, { found, known, between }).finally(() => deps.judging.begin([]));
  if (waiting === null) return null;
  const byDevice = groupBy(found, deviceOf);
  const ready = changes.filter(({ device_id: id }) => !waiting.has(id));
  for (const part of inParts(ready, WRITTEN)) {
    const rows = part.flatMap(({ device_id: id }) => byDevice.get(id) ?? []);
    await writeAssignments(deps, tenantId, part, rows.map((one) => ({ ...one, software: known.get(one.evidence.fingerprint) })));
    if (part.length === WRITTEN) await nextTurn();
    await between();
  }
  return changes.length;
}

/** Judges what was never judged, product by product, while the turn lasts. @returns Devices of which some is left; null where there is no CVE database. */
async function judgeUnknown({ clock, judging, allowance }: TakeDependencies, tenantId: string, { found, known, between }: {
  readonly found: readonly FoundEvidence[]; readonly known: Map<string, KnownSoftware>; readonly between: TakeWork["between"];
}): Promise<Set<string> | null> {
  const until = clock.monotonic() + TURN_MS;
  const unknown = found.filter(({ evidence }) => !known.has(evidence.fingerprint)).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const lists = inParts([...new Map(unknown.map((one) => [one.evidence.fingerprint, one])).values()], JUDGED);
  for (const [index, list] of lists.entries()) {
    // What was judged stays, so that a turn that is over goes on with the rest.
    if (clock.monotonic() > until) break;
    const spent = new Set(allowance.spentDevices(tenantId));
    const ready = list.filter(({ device_id: id }) => !spent.has(id));
    const adding = judging.add(ready.map(({ evidence }) => evidence));
    judging.begin(lists[index + 1]?.map(({ evidence }) => evidence) ?? []);
    const added = await adding;
    if (added === null) return null;
    for (const one of added) known.set(one.fingerprint, one);
    for (const { device_id: id } of ready) allowance.took(tenantId, id);
    await between();
  }
  return new Set(unknown.filter(({ evidence }) => !known.has(evidence.fingerprint)).map(({ device_id: id }) => id));
}

function deviceOf({ device_id: id }: FoundSoftware): string {
  return id;
}

function nameOf({ cpe_key: key, product }: FoundSoftware): string {
  return key || product;
}

function inParts<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size));
}

async function readEvidenceOf(reads: Kysely<Schema>, deviceIds: readonly string[]): Promise<readonly FoundEvidence[]> {
  const { found, systems } = await softwareOfDevices(reads, deviceIds);
  return [...groupBy(found, deviceOf)].flatMap(([id, rows]) => {
    const host = hostCpes(rows, systems.get(id) ?? "");
    return rows.map((row) => ({ ...row, evidence: toEvidence(row, host) }));
  });
}

async function writeAssignments(
  { db, clock }: TakeDependencies, tenantId: string, changes: readonly ChangedDevice[], found: readonly (FoundSoftware & { readonly software: KnownSoftware | undefined })[],
): Promise<void> {
  const at = toInstant(clock.now());
  await commitUnflushed(db, async (trx) => {
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
    for (const part of inParts(added, TURN)) {
      await putAssignments(trx, part);
      if (added.length > TURN) await nextTurn();
    }
    const reports = new Map([...gone, ...added].map(({ device_id, product }) => [`${device_id} ${product}`, { device_id, product, tenant_id: tenantId, due: createId() }]));
    await noteReports(trx, [...reports.values()]);
    if (added.length > TURN) await nextTurn();
    await settleChanges(trx, changes);
  });
}

function keyOf({ device_id: deviceId, service_key: key, software_id: softwareId }: Pick<AssignmentRow, "device_id" | "service_key" | "software_id">): string {
  return `${deviceId} ${key} ${softwareId}`;
}
