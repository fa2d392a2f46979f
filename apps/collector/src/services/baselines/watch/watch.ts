import { type Clock, describeError, type Log, nextTurn, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Appended, EventLog } from "../../../events/log.ts";
import { createJob, type Job } from "../../../jobs/job.ts";
import { createSiteLinks, type ReadTopology } from "../facts/links.ts";
import { readNetwork, type SiteNetworks } from "../facts/network-facts.ts";
import { readRogues } from "../facts/rogues.ts";
import { loadJudgements } from "../judgements.ts";
import type { BaselineRow } from "../store/baselines.ts";
import { portTextsOf, roguesOf } from "../store/inventory.ts";
import { dueBaselines, postpone } from "../store/queue.ts";
import { createBatchSize } from "./batch-size.ts";
import type { RunContext } from "./compare-one.ts";
import { compareDevices } from "./device-batch.ts";
import { addDevices } from "./new-baselines.ts";
import { type Beginnings, createBeginnings, openRoom } from "./room.ts";
import { createRounds } from "./rounds.ts";
import { compareSite } from "./site-batch.ts";
import { takeEvents } from "./take-events.ts";

/** What the comparison needs of the rest of the collector. */
export interface WatchDependencies {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly log: Pick<EventLog, "append" | "reach">;
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly clock: Clock;
  readonly logger: Log;
  readonly topologyOf: ReadTopology;
  readonly networks: SiteNetworks;
}

const RUN_EVERY_MS = 30_000;
/** What a run may take before it leaves the rest to the next one. */
const MAX_RUN_MS = 20_000;
/** Devices for which baselines are made in one transaction. */
const BATCH = 64;
/** Devices with very many ports are compared in smaller transactions: characters of their lists of open ports. */
const BATCH_CHARACTERS = 5000;
/** What could not be compared is tried again after so long, and lets the others pass. */
const FAILED_MS = 10 * 60_000;

/**
 * Compares sites and devices with their baselines: those that events were about, those for which a moment has come (a window that ends, a
 * device that is missed), and each one once an hour. What it has done is in the database alone, so that a restart neither loses a difference
 * nor reports one twice.
 */
export function createBaselineWatch(deps: WatchDependencies): Job<void> {
  const { reads, clock, logger } = deps;
  const links = createSiteLinks(deps.topologyOf, clock);
  const published = (tenantId: string, appended: Appended | null) => {
    if (appended) deps.published(tenantId, appended.fromSeq);
  };
  const rounds = createRounds({ ...deps, published });
  const size = createBatchSize();
  const beginnings = createBeginnings(clock);

  const compareTenant = async (tenantId: string, due: readonly BaselineRow[], context: RunContext): Promise<void> => {
    for (const site of due.filter(({ device_id: device }) => device === null)) {
      published(tenantId, await compareSite({ ...deps, links }, site, await readNetwork(deps.networks, site.site_id, context.rogues), context));
      await nextTurn();
    }
    const devices = due.filter(({ device_id: device }) => device !== null);
    for (const part of await inParts(reads, devices)) {
      const { appended, ms } = await compareDevices({ ...deps, links }, tenantId, part, context);
      published(tenantId, appended);
      size.took(ms);
      await nextTurn();
    }
  };

  const compareDue = async (now: number, stopped: AbortSignal) => {
    const contexts = new Map<string, RunContext>();
    const until = clock.monotonic() + MAX_RUN_MS;
    while (!stopped.aborted && clock.monotonic() < until) {
      const limit = size.now();
      const due = await dueBaselines(reads, toInstant(now), limit);
      for (const tenantId of new Set(due.map(({ tenant_id: id }) => id))) {
        const ofTenant = due.filter(({ tenant_id: id }) => id === tenantId);
        try {
          const context = contexts.get(tenantId) ?? await contextOf(reads, tenantId, { now, beginnings });
          contexts.set(tenantId, context);
          await compareTenant(tenantId, ofTenant, context);
        } catch (error) {
          logger.error({ reason: describeError(error), baselines: ofTenant.length }, "baselines could not be compared, trying again in ten minutes");
          await postpone(deps.db, ofTenant.map(({ id }) => id), toInstant(now + FAILED_MS));
        }
      }
      if (due.length < limit) break;
      await nextTurn();
    }
  };

  return createJob({ clock, log: logger }, {
    name: "baselines", everyMs: RUN_EVERY_MS, who: "one replica", failure: "baselines could not be compared, trying again in half a minute",
    async run(stopped) {
      const now = clock.now();
      const touched = await takeEvents({ ...deps, links }, now, stopped);
      for (const [tenantId, found] of touched) {
        const ids = [...found];
        for (let at = 0; at < ids.length; at += BATCH) {
          await addDevices(deps, tenantId, ids.slice(at, at + BATCH), now);
          await nextTurn();
        }
      }
      await rounds.run(now, stopped);
      await compareDue(now, stopped);
    },
  });
}

/** So that no part has too many ports. */
async function inParts(reads: Kysely<Schema>, due: readonly BaselineRow[]): Promise<readonly (readonly BaselineRow[])[]> {
  const sizes = new Map(await portTextsOf(reads, due.flatMap(({ device_id: id }) => id ?? [])));
  const parts: BaselineRow[][] = [];
  let room = 0;
  for (const row of due) {
    const size = sizes.get(row.device_id ?? "") ?? 0;
    if (parts.length === 0 || size > room) {
      parts.push([]);
      room = BATCH_CHARACTERS;
    }
    room -= size;
    parts.at(-1)?.push(row);
  }
  return parts;
}

async function contextOf(reads: Kysely<Schema>, tenantId: string, { now, beginnings }: { readonly now: number; readonly beginnings: Beginnings }): Promise<RunContext> {
  return {
    now, judgements: await loadJudgements(reads, tenantId, now), rogues: readRogues(await roguesOf(reads, tenantId)),
    room: await openRoom(reads, tenantId, beginnings),
  };
}
