import { nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { inTurn } from "../../../db/locks/lock-tenant.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Appended, EventLog } from "../../../events/log.ts";
import { endDifference } from "../differences/transition.ts";
import { removeFacts } from "../store/facts.ts";
import { devicesAfter, sitesWithout } from "../store/inventory.ts";
import { memberFactsAfter, siteBaselines, standingAfter } from "../store/queue.ts";
import { addDevices, addSites } from "./new-baselines.ts";
import { writeChanges } from "./write.ts";

/** Rows of one page: some milliseconds. */
const PAGE = 64;
/** A large installation is gone through within minutes, and a run stays short. */
const PAGES_A_RUN = 80;

interface RoundDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, appended: Appended | null) => void;
}

/**
 * Goes through what no event reports, some pages with each run, round and round: devices without a baseline, differences of devices that are
 * not there any more, and what sites know of such devices.
 */
export function createRounds(deps: RoundDependencies): { run(now: number, stopped: AbortSignal): Promise<void> } {
  const { db, reads } = deps;
  let [device, difference, member] = ["", "", { site: "", key: "" }];

  const devices = async (now: number): Promise<boolean> => {
    const page = await devicesAfter(reads, device, PAGE);
    device = page.length < PAGE ? "" : (page.at(-1)?.id ?? "");
    const missing = page.filter(({ baseline_id: id }) => id === null);
    for (const tenantId of new Set(missing.map(({ tenant_id: id }) => id))) {
      await addDevices(deps, tenantId, missing.filter((row) => row.tenant_id === tenantId).map(({ id }) => id), now);
    }
    return device !== "";
  };

  const differences = async (now: number): Promise<boolean> => {
    const page = await standingAfter(reads, difference, PAGE);
    difference = page.length < PAGE ? "" : (page.at(-1)?.open_key ?? "");
    const orphans = page.filter(({ baseline, device: there, device_id: id }) => baseline === null || (id !== null && there === null));
    const at = toInstant(now);
    for (const tenantId of new Set(orphans.map(({ tenant_id: id }) => id))) {
      const rows = orphans.filter((row) => row.tenant_id === tenantId).map(({ baseline: _baseline, device: _device, ...row }) => row);
      const appended = await inTurn(db, tenantId, (trx) => writeChanges(trx, deps.log, tenantId, {
        states: [], facts: [], differences: rows.map((row) => endDifference(row, at)), events: [],
      }, { at, placeOf: () => ({ ip: "", mac: "" }), baselineAt: (row) => row.first_seen }));
      deps.published(tenantId, appended);
    }
    return difference !== "";
  };

  const members = async (): Promise<boolean> => {
    const sites = await siteBaselines(reads);
    const site = sites.find(({ id }) => id >= member.site);
    if (!site) {
      member = { site: "", key: "" };
      return false;
    }
    const page = await memberFactsAfter(reads, site.id, site.id === member.site ? member.key : "", PAGE);
    const gone = page.filter(({ device: there }) => there === null).map(({ key }) => ({ baseline_id: site.id, kind: "device", key }));
    if (gone.length > 0) await inTurn(db, site.tenant_id, (trx) => removeFacts(trx, gone));
    member = page.length < PAGE ? { site: `${site.id}~`, key: "" } : { site: site.id, key: page.at(-1)?.key ?? "" };
    return true;
  };

  return {
    async run(now, stopped) {
      const fresh = await sitesWithout(reads);
      for (const tenantId of new Set(fresh.map(({ tenant_id: id }) => id))) {
        await addSites(db, tenantId, fresh.filter((row) => row.tenant_id === tenantId).map(({ id }) => id), now);
      }
      for (const round of [devices, differences, members]) {
        for (let pages = 0; pages < PAGES_A_RUN && !stopped.aborted && await round(now); pages += 1) await nextTurn();
      }
    },
  };
}
