import { HONEYPOT_FINGERPRINTS, type HoneypotSession, type HoneypotSessionDetail, type HoneypotSessionsQuery, type List, momentToInstant } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import { notFound, requireSite } from "../../../gateway/errors.ts";
import { pageById } from "../../../gateway/page.ts";
import type { EvidenceStore } from "../evidence/store.ts";
import type { RungRow, SessionFilter, SessionRow, SessionsStore } from "./store.ts";

/** What was done at decoys. */
export interface SessionsService {
  /** Newest first. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: HoneypotSessionsQuery): Promise<List<HoneypotSession>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, id: string): Promise<HoneypotSessionDetail>;
}

/** @param deps.store See `createSessionsStore`. */
export function createSessionsService({ store, evidence, clock }: { readonly store: SessionsStore; readonly evidence: Pick<EvidenceStore, "of">; readonly clock: Pick<Clock, "now"> }): SessionsService {
  const instantOf = (moment: string | undefined) => (moment === undefined ? undefined : momentToInstant(moment, clock.now()));
  return {
    async list(tenantId, query) {
      await requireSite(store, tenantId, query.site_id);
      const filter: SessionFilter = {
        siteId: query.site_id, decoy: query.decoy, sourceIp: query.source_ip, deviceId: query.device_id, stage: query.stage, isTest: query.is_test,
        since: instantOf(query.since), until: instantOf(query.until),
      };
      return pageById(query, { read: (rows) => store.list(tenantId, filter, rows), count: () => store.count(tenantId, filter), show: toSession });
    },

    async read(tenantId, id) {
      const row = await store.byId(tenantId, id);
      if (!row) throw notFound("session");
      const [rungs, clients] = [await store.rungs(id), await evidence.of(row.key, HONEYPOT_FINGERPRINTS)];
      return { ...toSession(row), clients: clients.map(({ kind, value, service }) => ({ kind: kind as HoneypotSessionDetail["clients"][number]["kind"], value, service })), rungs: rungs.map(toRung) };
    },
  };
}

function toRung(stored: RungRow): HoneypotSessionDetail["rungs"][number] {
  const { session_id: _, ...rung } = stored;
  return { ...rung, stage: rung.stage as HoneypotSession["stage"] };
}

function toSession(stored: SessionRow): HoneypotSession {
  const { key: _, tenant_id: __, ...row } = stored;
  const list = (text: string) => JSON.parse(text) as string[];
  // What is stored has come in by its schema.
  return {
    ...row, stage: row.stage as HoneypotSession["stage"], severity: row.severity as HoneypotSession["severity"], services: list(row.services), usernames: list(row.usernames),
    mitre_techniques: list(row.mitre_techniques), is_test: row.is_test === 1,
  };
}
