import { DecoysState, type Honeypot, type HoneypotsQuery, Instant, type List } from "@lanthorn/contract";
import { type Clock, derivedId, parseJson, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import * as z from "zod";
import { siteExists } from "../../db/locks/site-exists.ts";
import type { Schema } from "../../db/schema.ts";
import { notFound, requireSite } from "../../gateway/errors.ts";
import { pageOfAll } from "../../gateway/page.ts";
import type { SessionsStore } from "./sessions/store.ts";
import type { TestRow, TestsStore } from "./tests/store.ts";
import { readProbes, type ReportingProbe } from "./reports-store.ts";

/** Decoys, as the probes beside them last reported them. */
export interface DecoysService {
  /** By site, probe and name. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: HoneypotsQuery): Promise<List<Honeypot>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, id: string): Promise<Honeypot>;
}

/** All that is read of a probe's health. */
const Reported = z.object({ at: Instant.optional(), decoys: DecoysState.optional() });

/** @param deps.tests The last test of each. @param deps.sessions Sessions by key. */
export function createDecoysService({ reads, clock, tests, sessions }: {
  readonly reads: Kysely<Schema>; readonly clock: Pick<Clock, "now">; readonly tests: Pick<TestsStore, "all">; readonly sessions: Pick<SessionsStore, "idsOf">;
}): DecoysService {
  const all = async (tenantId: string): Promise<readonly Honeypot[]> => {
    const last = new Map((await tests.all(tenantId)).map((row) => [row.honeypot_id, row]));
    const sessionIds = await sessions.idsOf([...last.values()].flatMap(({ session_key: key }) => key ?? []));
    const testOf = (id: string) => {
      const row = last.get(id);
      return row ? toTest(row, { sessionId: sessionIds.get(row.session_key ?? "") ?? null, now: toInstant(clock.now()) }) : null;
    };
    return (await readProbes(reads, tenantId)).flatMap(honeypotsOf).map((one) => ({ ...one, test: testOf(one.id) }));
  };
  return {
    async list(tenantId, query) {
      await requireSite({ siteExists: (...of) => siteExists(reads, ...of) }, tenantId, query.site_id);
      return pageOfAll((await all(tenantId)).filter(({ site_id: id }) => query.site_id === undefined || query.site_id === id), query, ({ id }) => id);
    },
    async read(tenantId, id) {
      const found = (await all(tenantId)).find((one) => one.id === id);
      if (!found) throw notFound("honeypot");
      return found;
    },
  };
}

function toTest({ asked_at, asked_by, status, error, answer_by: answerBy }: TestRow, { sessionId, now }: { readonly sessionId: string | null; readonly now: string }): Honeypot["test"] {
  // What is stored has been written by the service of tests.
  const shown = status === "sent" && answerBy < now ? "no_answer" : status as "done" | "failed" | "sent";
  return { asked_at, asked_by, status: shown, error, session_id: sessionId };
}

function honeypotsOf(probe: ReportingProbe): readonly Omit<Honeypot, "test">[] {
  const read = Reported.safeParse(probe.health === null ? null : parseJson(probe.health));
  if (!read.success || read.data.decoys === undefined) return [];
  const { at = null, decoys: { is_running: isRunning, decoys } } = read.data;
  return decoys.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, persona, hostname, address, services, own_address: ownAddress = null }) => ({
    id: derivedId("honeypot", probe.id, name), site_id: probe.site_id, probe_id: probe.id, name, persona, hostname, address, services, own_address: ownAddress, reported_at: at,
    state: probe.presence !== "online" ? "silent" : isRunning ? stateOf(services) : "stopped",
  }));
}

function stateOf(services: Honeypot["services"]): Honeypot["state"] {
  const served = services.filter(({ problem }) => problem === null).length;
  return served === services.length ? "serving" : served > 0 ? "partly" : "failed";
}
