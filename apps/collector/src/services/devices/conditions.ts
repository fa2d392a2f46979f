import { type Choice, type CveSeverity, type DeviceConditions, momentToInstant } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import type { RawBuilder } from "kysely";
import { type AddressRange, parseNetwork } from "../../db/keys/address-range.ts";
import { withFilterText } from "../../gateway/body/filter-text.ts";
import { notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import type { DevicesStore } from "./store/devices.ts";
import type { DeviceFilter } from "./store/filters.ts";

/** A query of the ids of devices with CVEs of some severities. */
export type DevicesWith = (tenantId: string, severities: CveSeverity[]) => Promise<RawBuilder<unknown>>;

/** Conditions one by one, and those of a text in the filter language. */
type Asked = DeviceConditions & { readonly filter?: DeviceConditions | undefined };

/**
 * What a list of devices is narrowed to. An empty list would hide a mistyped site, so that is 404.
 * @throws ApiError NOT_FOUND for a site that the tenant does not have; BAD_REQUEST for what is said twice.
 */
export type ReadConditions = (tenantId: string, asked: Asked) => Promise<DeviceFilter>;

/** @param deps.devicesWith The service of CVEs passes it. */
export function createReadConditions({ store, devicesWith, clock }: {
  readonly store: Pick<DevicesStore, "sitesExist">; readonly devicesWith: DevicesWith; readonly clock: Pick<Clock, "now">;
}): ReadConditions {
  const withCves = async (tenantId: string, { any, none }: Choice<CveSeverity>): Promise<Choice<RawBuilder<unknown>>> => {
    const queries = async (severities: readonly CveSeverity[]) => (severities.length === 0 ? [] : [await devicesWith(tenantId, [...severities])]);
    return { any: await queries(any), none: await queries(none) };
  };
  const instant = (moment: string | undefined) => (moment === undefined ? undefined : momentToInstant(moment, clock.now()));
  return async (tenantId, asked) => {
    const query = withFilterText(asked);
    const sites = query.site_id ? [...query.site_id.any, ...query.site_id.none] : [];
    if (!(await store.sitesExist(tenantId, sites))) throw notFound("site");
    return {
      siteId: query.site_id, isOnline: query.is_online, presenceState: query.presence_state, deviceType: query.device_type,
      vendor: query.vendor, os: query.os, tag: query.tag, subnet: query.subnet && rangesOf(query.subnet), openPort: query.open_port,
      cve: query.cve_severity && await withCves(tenantId, query.cve_severity),
      since: instant(query.since), until: instant(query.until), foundSince: instant(query.found_since), foundUntil: instant(query.found_until), search: query.search,
    };
  };
}

/** @throws ApiError BAD_REQUEST for what is a network to the contract and to nobody else. */
function rangesOf({ any, none }: Choice<string>): Choice<AddressRange> {
  const range = (text: string) => {
    const parsed = parseNetwork(text);
    if (!parsed) throw badRequest([{ path: ["subnet"], message: "must be an IP address, or a network as 10.0.0.0/8" }]);
    return parsed;
  };
  return { any: any.map(range), none: none.map(range) };
}
