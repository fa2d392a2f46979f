import {
  type List, momentToInstant, type Scan, SCAN_PROFILE_NAMES, SCAN_PROFILES, type ScanHost, type ScanProfile, type ScansQuery,
} from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { pageById } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import type { ScanDispatch } from "./dispatch.ts";
import { toHost, toScan } from "./records.ts";
import { type ScanStarts, scanStarts, type ScanStartsDependencies } from "./start-scan.ts";

interface ResultsPage {
  readonly page: number;
  readonly per_page: number;
  readonly cursor?: string | undefined;
}

/** Scans as the API starts, shows and cancels them. */
export interface ScansService extends ScanStarts {
  profiles(): readonly ScanProfile[];
  /** @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: ScansQuery): Promise<List<Scan>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, scanId: string): Promise<Scan>;
  /** Ends a scan; once is enough. @throws ApiError NOT_FOUND; CONFLICT when it has ended otherwise. */
  cancel(actor: Actor, scanId: string): Promise<Scan>;
  /** Hosts in the order of their addresses. @throws ApiError NOT_FOUND; BAD_REQUEST for a cursor of another list. */
  results(tenantId: string, scanId: string, page: ResultsPage): Promise<List<ScanHost>>;
}

/**
 * Targets have at most 65,536 addresses, except an IPv6 network on a probe's own link.
 * @param deps.brokerHealth Asked before a start: without the broker no scan is queued.
 */
export function createScansService(deps: ScanStartsDependencies & { readonly dispatch: Pick<ScanDispatch, "cancel"> }): ScansService {
  const { store, dispatch, audit, clock } = deps;
  return {
    ...scanStarts(deps),

    profiles: () => SCAN_PROFILE_NAMES.map((name) => ({ name, ...SCAN_PROFILES[name] })),

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
        return { status: "cancelled", finished_at: toInstant(clock.now()), cancel_command_id: createId() };
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
