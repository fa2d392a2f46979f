import { type List, momentToInstant, type Probe, type ProbeHealth, type ProbeHealthQuery } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { Actor } from "../../gateway/environment.ts";
import { notFound } from "../../gateway/errors.ts";
import { type IdPage, pageById } from "../../gateway/page.ts";
import { type EnrollmentTokens, enrollmentTokens, type EnrollmentTokensDependencies } from "./enrollment-tokens.ts";
import { type ProbeCertificates, probeCertificates, type ProbeCertificatesDependencies } from "./probe-certificates.ts";
import { toHealth, toProbe } from "./records.ts";

/** The registry of probes. */
export interface AgentsService extends EnrollmentTokens, ProbeCertificates {
  list(tenantId: string, page: IdPage): Promise<List<Probe>>;
  read(tenantId: string, probeId: string): Promise<Probe>;
  /** @throws ApiError NOT_FOUND. */
  rename(actor: Actor, probeId: string, name: string): Promise<Probe>;
  /** Samples of every few minutes, newest first. @throws ApiError NOT_FOUND. */
  health(tenantId: string, probeId: string, query: ProbeHealthQuery): Promise<List<ProbeHealth>>;
  /** From here on the probe is let in nowhere; its live session has ended when the promise resolves. */
  revoke(actor: Actor, probeId: string): Promise<void>;
}

interface AgentsDependencies extends EnrollmentTokensDependencies, ProbeCertificatesDependencies {
  readonly authority: ProbeCertificatesDependencies["authority"];
  /** After a revocation was committed: ends the live session. */
  readonly onRevoked: (probeId: string) => Promise<void>;
}

/** A revocation is committed first; `revoke` then waits for `deps.onRevoked`. */
export function createAgentsService(deps: AgentsDependencies): AgentsService {
  const { store, audit, clock } = deps;
  const read = async (tenantId: string, probeId: string): Promise<Probe> => {
    const row = await store.probeById(tenantId, probeId);
    if (!row) throw notFound("probe");
    return toProbe(row);
  };

  return {
    ...enrollmentTokens(deps), ...probeCertificates(deps),

    list: (tenantId, page) => pageById(page, {
      read: (rows) => store.listProbes(tenantId, rows), count: () => store.countProbes(tenantId), show: toProbe,
    }),

    read,

    async rename(actor, probeId, name) {
      await store.transaction(async (trx) => {
        const before = await store.rename(trx, actor.tenantId, probeId, name);
        if (before === null) throw notFound("probe");
        await audit(trx, {
          actor, action: "probe.update", target: { type: "probe", id: probeId }, before: { name: before }, after: { name },
        });
      });
      return read(actor.tenantId, probeId);
    },

    async health(tenantId, probeId, { since, until, ...page }) {
      await read(tenantId, probeId);
      const instant = (moment: string | undefined) => (moment === undefined ? undefined : momentToInstant(moment, clock.now()));
      const period = { since: instant(since), until: instant(until) };
      return pageById(page, {
        read: (rows) => store.listHealth(probeId, period, rows), count: () => store.countHealth(probeId, period), show: toHealth,
      });
    },

    async revoke(actor, probeId) {
      const at = toInstant(clock.now());
      await store.transaction(async (trx) => {
        const probe = await store.revoke(trx, actor.tenantId, probeId, at);
        if (!probe) throw notFound("probe");
        if (probe.revoked_at !== at) return;
        const { name } = probe;
        await audit(trx, {
          actor, action: "probe.revoke", target: { type: "probe", id: probeId }, before: { name, revoked_at: null },
          after: { name, revoked_at: at },
        });
      });
      await deps.onRevoked(probeId);
      deps.log.info({ probe_id: probeId }, "probe revoked");
    },
  };
}
