import {
  type List, momentToInstant, ProbeHealth, type Scan, SCAN_PROFILE_NAMES, SCAN_PROFILES, type ScanHost, type ScanProfile, type ScansQuery,
  type ScanStart,
} from "@lanthorn/contract";
import { type Clock, createId, describeError, toInstant } from "@lanthorn/runtime";
import * as z from "zod";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { pageById } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import { ANSWER_WITHIN_MS, type ScanDispatch } from "./dispatch.ts";
import { type AddressRange, covers, parseNetwork } from "../../db/address-range.ts";
import type { ScanRow } from "./reaction-store.ts";
import { toHost, toScan } from "./records.ts";
import type { ScansStore } from "./store.ts";

interface ResultsPage {
  readonly page: number;
  readonly per_page: number;
  readonly cursor?: string | undefined;
}

export interface ScansService {
  profiles(): readonly ScanProfile[];
  /**
   * Sends a scan to the site's probe. It is queued when the promise resolves.
   * @throws ApiError BAD_REQUEST for a target that is too large or a site that must be named; FORBIDDEN outside the networks
   * that may be scanned; CONFLICT beside another scan of the same addresses; SERVICE_UNAVAILABLE while no probe is there.
   */
  start(actor: Actor, scan: ScanStart): Promise<Scan>;
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: ScansQuery): Promise<List<Scan>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, scanId: string): Promise<Scan>;
  /** Ends a scan; once is enough. @throws ApiError NOT_FOUND; CONFLICT when it has ended otherwise. */
  cancel(actor: Actor, scanId: string): Promise<Scan>;
  /** Hosts in the order of their addresses. @throws ApiError NOT_FOUND; BAD_REQUEST for a cursor of another list. */
  results(tenantId: string, scanId: string, page: ResultsPage): Promise<List<ScanHost>>;
}

/** A /16 of IPv4, a /112 of IPv6: 65,536 addresses. */
const MAX_HOST_BITS = 16;
/** Of every link. @see RFC 4291 section 2.5.6 */
const LINK_LOCAL = "fe80::/10";
const Exclusions = z.object({ excluded: z.array(z.string()).default([]) });

export function createScansService(deps: {
  readonly store: ScansStore;
  readonly dispatch: Pick<ScanDispatch, "start" | "cancel" | "fail">;
  readonly brokerHealth: () => { readonly status: "ok" | "degraded"; readonly detail: string };
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}): ScansService {
  const { store, dispatch, audit, clock } = deps;
  const now = () => toInstant(clock.now());

  const findSite = async (tenantId: string, siteId: string | undefined) => {
    if (siteId !== undefined) {
      const site = await store.site(tenantId, siteId);
      if (!site) throw notFound("site");
      return site;
    }
    const [site, another] = await store.sites(tenantId);
    if (!site) throw notFound("site");
    if (another) throw badRequest([{ path: ["site_id"], message: "name the site: there are several" }]);
    return site;
  };
  /** The probe that is to scan: one that is there, on the target's own link where there is such a one. */
  const findProbe = async (site: Awaited<ReturnType<typeof findSite>>, target: AddressRange) => {
    const probes = (await store.probes(site.id)).map((probe) => ({ ...probe, networks: networksOf(probe.health) }));
    if (probes.length === 0) throw unavailable("the site has no probe");
    const allowed = [...(JSON.parse(site.scan_networks) as string[]), ...probes.flatMap(({ networks }) => networks)];
    const online = probes.filter(({ state }) => state === "online");
    const isAllowed = allowed.some((network) => holds(network, target));
    const isUntold = probes.some(({ health }) => health === null);
    if (!isAllowed && !isUntold) {
      throw new ApiError("FORBIDDEN", `${target.network} is outside the networks that may be scanned at this site`, {
        details: { allowed: [...new Set(allowed)] },
      });
    }
    const probe = online.find(({ networks }) => networks.some((network) => holds(network, target))) ?? online[0];
    if (!probe) throw unavailable(probes.map(whereIs).join("; "));
    if (!isAllowed) throw unavailable("the probe has not reported its networks yet; try again in half a minute");
    return probe;
  };

  return {
    profiles: () => SCAN_PROFILE_NAMES.map((name) => ({ name, ...SCAN_PROFILES[name] })),

    async start(actor, { target, profile, site_id: siteId }) {
      const range = parseNetwork(target);
      if (!range) throw badTarget("not a network");
      // Of a link's own IPv6 network only those are asked that have shown themselves, so it may be large.
      const isIpv6Link = range.network.includes(":") && range.hostBits <= 118;
      if (range.hostBits > MAX_HOST_BITS && !isIpv6Link) throw badTarget("larger than a /16; scan it in parts");
      const site = await findSite(actor.tenantId, siteId);
      const probe = await findProbe(site, range);
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

    async list(tenantId, { page, per_page, cursor, site_id: siteId, status, profile, since, until }) {
      if (siteId !== undefined && !(await store.site(tenantId, siteId))) throw notFound("site");
      const instant = (moment: string | undefined) => (moment === undefined ? undefined : momentToInstant(moment, clock.now()));
      const filter = { siteId, status, profile, since: instant(since), until: instant(until) };
      return pageById({ page, per_page, cursor }, {
        read: (rows) => store.list(tenantId, filter, rows), count: () => store.count(tenantId, filter), show: toScan,
      });
    },

    async read(tenantId, scanId) {
      const row = await store.byId(tenantId, scanId);
      if (!row) throw notFound("scan");
      return toScan(row);
    },

    async cancel(actor, scanId) {
      let isNews = false;
      const scan = await store.change(actor.tenantId, scanId, async (trx, before) => {
        if (before.status === "cancelled") return null;
        const isOpen = before.status === "queued" || before.status === "running";
        if (!isOpen) throw new ApiError("CONFLICT", `the scan is ${before.status} already`);
        isNews = true;
        await audit(trx, {
          actor, action: "scan.cancel", target: { type: "scan", id: scanId }, before: { status: before.status },
          after: { status: "cancelled" },
        });
        return { status: "cancelled", finished_at: now(), cancel_command_id: createId() };
      });
      if (!scan) throw notFound("scan");
      if (isNews) await dispatch.cancel(scan);
      return toScan(scan);
    },

    async results(tenantId, scanId, { page, per_page: perPage, cursor }) {
      const scan = await store.byId(tenantId, scanId);
      if (!scan) throw notFound("scan");
      const isCursor = cursor === undefined || /^[46][\da-f]{8,32}$/.test(cursor);
      if (!isCursor) throw badRequest([{ path: ["cursor"], message: "not a cursor of this list" }]);
      const rows = await store.hosts(scanId, { from: cursor ?? (page - 1) * perPage, limit: perPage + 1 });
      const shown = rows.slice(0, perPage);
      const ports = await store.ports(scanId, shown.map((host) => host.ip_key));
      const names = await store.deviceNames(scan.site_id, shown);
      return {
        data: shown.map((host) => toHost(host, ports.filter((port) => port.ip_key === host.ip_key), names)),
        meta: {
          page, per_page: perPage, total: await store.countHosts(scanId),
          next_cursor: rows.length > perPage ? (shown.at(-1)?.ip_key ?? null) : null,
        },
      };
    },
  };
}

/** The subnets that a probe said it is on; none while it has not, and from older probes. */
function networksOf(health: string | null): readonly string[] {
  const parsed = health === null ? null : ProbeHealth.safeParse(JSON.parse(health));
  return parsed?.success ? (parsed.data.interface.networks ?? []) : [];
}

function holds(network: string, target: AddressRange): boolean {
  const range = parseNetwork(network);
  return range !== null && covers(range, target);
}

function whereIs({ name, state, silent_since: since }: Awaited<ReturnType<ScansStore["probes"]>>[number]): string {
  return state === "silent" ? `the probe ${name} is silent since ${since ?? "long"}` : `the probe ${name} has never connected`;
}

function badTarget(message: string): ApiError {
  return badRequest([{ path: ["target"], message }]);
}

function unavailable(reason: string, cause?: unknown): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", reason, { details: { reason }, cause, isOrdinary: cause === undefined });
}
