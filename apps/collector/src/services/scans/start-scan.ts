import type { Scan, ScanStart } from "@lanthorn/contract";
import { type Clock, createId, describeError, toInstant } from "@lanthorn/runtime";
import * as z from "zod";
import { parseNetwork } from "../../db/keys/address-range.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { chooseProbe, holds, unavailable } from "./choose-probe.ts";
import { ANSWER_WITHIN_MS, type ScanDispatch } from "./dispatch.ts";
import type { ScanRow } from "./reaction-store.ts";
import { toScan } from "./records.ts";
import type { ScansStore } from "./store.ts";

/** Starting scans. */
export interface ScanStarts {
  /**
   * Sends a scan to the site's probe. It is queued when the promise resolves.
   * @throws ApiError BAD_REQUEST for a target that is too large or a site that must be named; FORBIDDEN outside the networks
   * that may be scanned; CONFLICT beside another scan of the same addresses; SERVICE_UNAVAILABLE while no probe is there.
   */
  start(actor: Actor, scan: ScanStart): Promise<Scan>;
}

/** What starting a scan needs. */
export interface ScanStartsDependencies {
  readonly store: ScansStore;
  readonly dispatch: Pick<ScanDispatch, "start" | "fail">;
  readonly brokerHealth: () => { readonly status: "ok" | "degraded"; readonly detail: string };
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}

/** A /16 of IPv4, a /112 of IPv6: 65,536 addresses. */
const MAX_HOST_BITS = 16;
/** Of every link. @see RFC 4291 section 2.5.6 */
const LINK_LOCAL = "fe80::/10";
const Exclusions = z.object({ excluded: z.array(z.string()).default([]) });

/** Starts scans: chooses the probe, records the scan and sends it. */
export function scanStarts(deps: ScanStartsDependencies): ScanStarts {
  const { store, dispatch, audit, clock } = deps;
  const now = () => toInstant(clock.now());
  return {
    async start(actor, { target, profile, site_id: siteId }) {
      const range = parseNetwork(target);
      if (!range) throw badTarget("not a network");
      // Of a link's own IPv6 network only those are asked that have shown themselves, so it may be large.
      const isIpv6Link = range.network.includes(":") && range.hostBits <= 118;
      if (range.hostBits > MAX_HOST_BITS && !isIpv6Link) throw badTarget("larger than a /16; scan it in parts");
      const site = await findSite(store, actor.tenantId, siteId);
      const probe = await chooseProbe(store, site, range);
      const isOnLink = probe.networks.some((network) => holds(network, range)) || holds(LINK_LOCAL, range);
      if (range.hostBits > MAX_HOST_BITS && !isOnLink) throw badTarget("behind a router, and larger than a /112; scan it in parts");
      const broker = deps.brokerHealth();
      if (broker.status !== "ok") throw unavailable(`the broker is not connected: ${broker.detail}`);
      const scan: ScanRow = {
        id: createId(), tenant_id: actor.tenantId, site_id: site.id, probe_id: probe.id,
        target: range.network, target_first: range.first, target_last: range.last, profile, status: "queued", progress: 0,
        requested_by: actor.name, created_at: now(), started_at: null, finished_at: null, hosts_total: 0, hosts_up: 0,
        ports_open: 0, error: null, presumed: 0, command_id: createId(), cancel_command_id: null, run_id: probe.run_id,
        answer_by: toInstant(clock.now() + ANSWER_WITHIN_MS), heard_at: now(), orphaned_at: null, remarks: "[]", stored_rows: 0,
        scope_id: null,
      };
      const record = toScan(scan);
      const other = await store.add(scan, (trx) => audit(trx, {
        actor, action: "scan.start", target: { type: "scan", id: scan.id }, before: null, after: record,
      }));
      if (other !== null) throw new ApiError("CONFLICT", "a scan of these addresses has not ended yet", { details: { scan_id: other } });
      try {
        await dispatch.start(scan, Exclusions.parse(JSON.parse(site.probe_configuration)).excluded);
      } catch (error) {
        await dispatch.fail(scan, `the command could not be sent: ${describeError(error)}`, { presumed: false });
        throw unavailable("the command could not be sent to the probe", error);
      }
      return record;
    },
  };
}

/** @throws ApiError NOT_FOUND; BAD_REQUEST where the tenant has several sites and none is named. */
async function findSite(store: ScansStore, tenantId: string, siteId: string | undefined) {
  if (siteId !== undefined) {
    const site = await store.site(tenantId, siteId);
    if (!site) throw notFound("site");
    return site;
  }
  const [site, another] = await store.sites(tenantId);
  if (!site) throw notFound("site");
  if (another) throw badRequest([{ path: ["site_id"], message: "name the site: there are several" }]);
  return site;
}

function badTarget(message: string): ApiError {
  return badRequest([{ path: ["target"], message }]);
}
