import { nextTurn, systemClock, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Appended, EventLog } from "../../../events/log.ts";
import type { NeighborNow } from "../compare/neighbors.ts";
import { byDevice, deviceNow, toLooks } from "../facts/device-facts.ts";
import type { SiteLinks } from "../facts/links.ts";
import { type BaselineRow, baselinesById, baselinesOfSites } from "../store/baselines.ts";
import { differencesAt, type DifferenceRow, openKeyOf, standingDifferences } from "../store/differences.ts";
import { factsOf, type FactRow, findFacts } from "../store/facts.ts";
import { absentAt, certificatesOf, type DeviceRow, devicesOf, looksOf, portsOf, scopesOf } from "../store/inventory.ts";
import { compareOne, type DeviceOutcome, deviceText, type RunContext } from "./compare-one.ts";
import { takenAt, writeChanges } from "./write.ts";

/** What comparing devices needs. */
export interface BatchDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly log: Pick<EventLog, "append">;
  readonly links: SiteLinks;
}

/** What came of comparing some devices. */
interface Compared {
  /** Where in the log; null where nothing is reported. */
  readonly appended: Appended | null;
  /** What their transaction took, by the machine's own clock. */
  readonly ms: number;
}

/**
 * Compares devices of one tenant with their baselines, and writes what comes of it in one transaction. What is seen of the devices is read
 * before it: it may be a moment old, the baselines are as they are.
 */
export async function compareDevices(
  deps: BatchDependencies, tenantId: string, due: readonly BaselineRow[], context: RunContext,
): Promise<Compared> {
  const seen = await readSeen(deps, tenantId, due);
  const at = toInstant(context.now);
  await nextTurn();
  const beganAt = systemClock.monotonic();
  const appended = await inTurn(deps.db, tenantId, async (trx) => {
    const stored = await readStored(trx, due, seen.devices);
    const befores = await readBefores(trx, stored, seen.devices);
    const outcomes: DeviceOutcome[] = [];
    for (const baseline of stored.baselines) {
      const row = seen.devices.get(baseline.device_id ?? "");
      const site = stored.sites.get(baseline.site_id);
      if (!row || !site) continue;
      const outcome = compareOne({
        row, baseline, site, now: deviceNow(row.id, seen.rows), facts: stored.facts.get(baseline.id) ?? [], standing: stored.standing.get(baseline.id) ?? [],
        siteFacts: stored.siteFacts.get(row.id) ?? [], siteStanding: stored.siteStanding.get(row.id) ?? [], before: befores.get(row.id) ?? null,
      }, context);
      outcomes.push(outcome);
      context.room.took(row.site_id, outcome.differences.reduce((sum, { added }) => sum + added.length, 0));
    }
    const baselineOf = new Map([...stored.baselines, ...stored.sites.values()].map((row) => [row.id, row]));
    return writeChanges(trx, deps.log, tenantId, {
      states: outcomes.map(({ state }) => state), facts: outcomes.flatMap(({ facts }) => facts),
      differences: outcomes.flatMap(({ differences }) => differences), events: [],
    }, { at, placeOf: placesOf(seen.devices), baselineAt: (row) => takenAt(baselineOf.get(row.baseline_id) as BaselineRow) });
  });
  return { appended, ms: systemClock.monotonic() - beganAt };
}

async function readSeen({ reads, links }: BatchDependencies, tenantId: string, due: readonly BaselineRow[]) {
  const ids = due.flatMap(({ device_id: id }) => id ?? []);
  const rows = await devicesOf(reads, ids);
  const neighbors = new Map<string, readonly NeighborNow[]>();
  for (const siteId of new Set(rows.map(({ site_id: site }) => site))) {
    const ofSite = await links.of(tenantId, siteId);
    for (const { id, site_id: site } of rows) if (site === siteId) neighbors.set(id, ofSite.get(id) ?? []);
  }
  const looks = await looksOf(reads, ids);
  const scopes = await scopesOf(reads, [...new Set(looks.map(({ scope_id: id }) => id))]);
  return {
    devices: new Map(rows.map((row) => [row.id, row])),
    rows: {
      ports: byDevice(await portsOf(reads, ids)), certificates: byDevice(await certificatesOf(reads, ids)), looks: byDevice(toLooks(looks, scopes)),
      neighbors,
    },
  };
}

type Devices = ReadonlyMap<string, DeviceRow>;

async function readStored(trx: Kysely<Schema>, due: readonly BaselineRow[], devices: Devices) {
  const ids = due.map(({ id }) => id);
  const baselines = (await baselinesById(trx, ids)).filter((row, index, all) => all.findIndex(({ id }) => id === row.id) === index);
  const sites = new Map((await baselinesOfSites(trx, [...new Set(baselines.map(({ site_id: site }) => site))])).map((row) => [row.site_id, row]));
  const members = [...devices.values()].flatMap(({ id, site_id: site }) => {
    const own = sites.get(site);
    return own ? [{ baseline_id: own.id, kind: "device", key: id }] : [];
  });
  return {
    baselines, sites, facts: grouped(await factsOf(trx, ids), ({ baseline_id: id }) => id),
    standing: grouped(await standingDifferences(trx, ids), ({ baseline_id: id }) => id),
    siteFacts: grouped(await findFacts(trx, members), ({ key }: FactRow) => key),
    siteStanding: grouped(await differencesAt(trx, members.map(openKeyOf)), ({ key }: DifferenceRow) => key),
  };
}

/** For devices that their site does not know: who had their address before. */
async function readBefores(trx: Kysely<Schema>, { sites, siteFacts }: Awaited<ReturnType<typeof readStored>>, devices: Devices): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const [siteId, site] of sites) {
    const fresh = [...devices.values()].filter((row) => row.site_id === siteId && row.ip !== "" && !siteFacts.has(row.id));
    if (site.state === "learning" || fresh.length === 0) continue;
    const absent = await absentAt(trx, siteId, fresh.map(({ ip }) => ip));
    const known = new Set((await findFacts(trx, absent.map(({ id }) => ({ baseline_id: site.id, kind: "device", key: id })))).map(({ key }) => key));
    for (const row of fresh) {
      const before = absent.find(({ id, ip }) => ip === row.ip && id !== row.id && known.has(id));
      if (before) found.set(row.id, deviceText(before));
    }
  }
  return found;
}

function placesOf(devices: Devices) {
  return (row: DifferenceRow) => {
    const device = devices.get(row.device_id ?? "");
    return { ip: device?.ip ?? "", mac: device?.mac ?? "" };
  };
}

function grouped<T>(rows: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>();
  for (const row of rows) found.set(keyOf(row), [...(found.get(keyOf(row)) ?? []), row]);
  return found;
}
