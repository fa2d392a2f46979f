import { type DecoysPart, type HoneypotExemption, type HoneypotExemptionCreate, type HoneypotExemptionsQuery, type List, MAX_DECOY_EXEMPTIONS } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { plainNetworks } from "../../../db/keys/plain-networks.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../../gateway/errors.ts";
import { pageOfAll } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import type { ExemptionRow, ExemptionsStore } from "./store.ts";

/** Who may touch a site's decoys: those that have not expired. */
export interface ExemptionsService {
  /** The oldest first. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: HoneypotExemptionsQuery): Promise<List<HoneypotExemption>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, id: string): Promise<HoneypotExemption>;
  /** It is sent to the site's probes. @throws ApiError NOT_FOUND; BAD_REQUEST for an end that is past; CONFLICT where there are too many, or for a name that is taken. */
  add(actor: Actor, wish: HoneypotExemptionCreate): Promise<HoneypotExemption>;
  /** @throws ApiError NOT_FOUND. */
  remove(actor: Actor, id: string): Promise<void>;
  /** What is sent to the site's probes; undefined where nobody is exempt. */
  partFor(siteId: string): Promise<DecoysPart | undefined>;
}

/** @param deps.onConfigured After a change was committed; nobody waits for it, so it must not reject. */
export function createExemptionsService({ store, audit, clock, onConfigured }: {
  readonly store: ExemptionsStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">; readonly onConfigured: (siteId: string) => Promise<void>;
}): ExemptionsService {
  const now = () => toInstant(clock.now());
  const target = (id: string) => ({ type: "honeypot_exemption", id });
  return {
    async list(tenantId, query) {
      await requireSite(store, tenantId, query.site_id);
      return pageOfAll((await store.list(tenantId, query.site_id, now())).map(toExemption), query, ({ id }) => id);
    },

    async read(tenantId, id) {
      const row = await store.byId(tenantId, id, now());
      if (!row) throw notFound("exemption");
      return toExemption(row);
    },

    async add(actor, { site_id: siteId, name, addresses, ports, hours, reason, expires_at: expiresAt }) {
      const at = now();
      if (expiresAt !== undefined && expiresAt <= at) throw badRequest([{ path: ["expires_at"], message: "must be in the future" }]);
      const row: ExemptionRow = {
        id: createId(), tenant_id: actor.tenantId, site_id: siteId, name, addresses: JSON.stringify(plainNetworks(addresses)), ports: JSON.stringify(ports), hours: hours ?? null, reason,
        created_by: actor.name, created_at: at, expires_at: expiresAt ?? null,
      };
      await store.transaction(async (trx) => {
        if (!(await store.reviseSite(trx, actor.tenantId, siteId))) throw notFound("site");
        await store.forgetExpired(trx, siteId, at);
        const known = await store.ofSite(trx, siteId, at);
        if (known.length >= MAX_DECOY_EXEMPTIONS) throw new ApiError("CONFLICT", `the site has ${MAX_DECOY_EXEMPTIONS} exemptions already: delete some, or use a network for many addresses`);
        if (known.some((one) => one.name === name)) throw new ApiError("CONFLICT", `the site has an exemption of the name ${name} already`);
        await store.add(trx, row);
        await audit(trx, { actor, action: "honeypot_exemption.create", target: target(row.id), before: null, after: toExemption(row) });
      });
      void onConfigured(siteId);
      return toExemption(row);
    },

    async remove(actor, id) {
      const siteId = await store.transaction(async (trx) => {
        const row = await store.remove(trx, actor.tenantId, id);
        if (!row) throw notFound("exemption");
        await store.reviseSite(trx, actor.tenantId, row.site_id);
        await audit(trx, { actor, action: "honeypot_exemption.delete", target: target(id), before: toExemption(row), after: null });
        return row.site_id;
      });
      void onConfigured(siteId);
    },

    async partFor(siteId) {
      const rows = await store.ofSite(null, siteId, now());
      return rows.length === 0 ? undefined : { exemptions: rows.map(toPart) };
    },
  };
}

function toExemption(stored: ExemptionRow): HoneypotExemption {
  const { tenant_id: _, addresses, ports, ...row } = stored;
  return { ...row, addresses: JSON.parse(addresses) as string[], ports: JSON.parse(ports) as number[] };
}

/** Reasons are for people and stay here. */
function toPart({ name, addresses, ports, hours, expires_at: until }: ExemptionRow): DecoysPart["exemptions"][number] {
  return { name, addresses: JSON.parse(addresses) as string[], ports: JSON.parse(ports) as number[], ...(hours !== null && { hours }), ...(until !== null && { until }) };
}
