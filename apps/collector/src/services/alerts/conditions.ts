import { type AlertConditions, momentToInstant } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import { withFilterText } from "../../gateway/body/filter-text.ts";
import { notFound } from "../../gateway/errors.ts";
import type { AlertFilter, AlertsStore } from "./store.ts";

/** Conditions one by one, and those of a text in the filter language. */
type Asked = AlertConditions & { readonly filter?: AlertConditions | undefined };

/**
 * What a list of alerts is narrowed to. An empty list would hide a mistyped site, so that is 404.
 * @throws ApiError NOT_FOUND for a site that the tenant does not have; BAD_REQUEST for what is said twice.
 */
export type ReadConditions = (tenantId: string, asked: Asked) => Promise<AlertFilter>;

/** @param deps.clock What durations count back from. */
export function createReadConditions({ store, clock }: { readonly store: Pick<AlertsStore, "sitesExist">; readonly clock: Pick<Clock, "now"> }): ReadConditions {
  const instant = (moment: string | undefined) => (moment === undefined ? undefined : momentToInstant(moment, clock.now()));
  return async (tenantId, asked) => {
    const { source, severity, status, type, search, site_id: siteId, device_id: deviceId, since, until } = withFilterText(asked);
    if (!(await store.sitesExist(tenantId, [...siteId?.any ?? [], ...siteId?.none ?? []]))) throw notFound("site");
    return { source, severity, status, type, search, siteId, deviceId, since: instant(since), until: instant(until) };
  };
}
