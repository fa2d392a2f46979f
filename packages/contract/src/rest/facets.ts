import * as z from "zod";
import { AlertConditions } from "./alert-conditions.ts";
import { AlertFilterText } from "./alert-filter.ts";
import { DeviceConditions } from "./device-conditions.ts";
import { DeviceFilterText } from "./device-filter.ts";

/** As many values of a field are counted out; the rest is in no list. */
export const MAX_FACET_VALUES = 50;

const facetOf = (records: string) => (what: string) => z.array(z.object({
  value: z.string().describe("The value, as the filter of this name takes it."),
  count: z.int().min(1).describe(`${records} that have it, of those that the filter leaves.`),
})).describe(`${what}, the most frequent first, at most ${MAX_FACET_VALUES}.`);

const deviceFacet = facetOf("Devices");
/** How often values occur in the devices that a filter leaves. Unknown ones, which are empty texts, are not counted out. */
export const DeviceFacets = z.object({
  total: z.int().min(0).describe("How many devices the filter leaves, as the list's `meta.total`."),
  site_id: deviceFacet("Sites"),
  device_type: deviceFacet("Types"),
  presence_state: deviceFacet("States of presence"),
  vendor: deviceFacet("Vendors"),
  os: deviceFacet("Operating systems"),
  tag: deviceFacet("Tags; a device can have several"),
  open_port: deviceFacet("Open ports; a device can have several"),
});
export type DeviceFacets = z.infer<typeof DeviceFacets>;

/** The list's filters. */
export const DeviceFacetsQuery = DeviceConditions.extend({ filter: DeviceFilterText.optional() });
export type DeviceFacetsQuery = z.infer<typeof DeviceFacetsQuery>;

const alertFacet = facetOf("Alerts");
/** How often values occur in the alerts that a filter leaves. An alert of no site or device is not counted out there. */
export const AlertFacets = z.object({
  total: z.int().min(0).describe("How many alerts the filter leaves, as the list's `meta.total`."),
  severity: alertFacet("Severities"),
  status: alertFacet("Statuses"),
  source: alertFacet("Sources"),
  type: alertFacet("Types"),
  site_id: alertFacet("Sites"),
  device_id: alertFacet("Devices"),
});
export type AlertFacets = z.infer<typeof AlertFacets>;

/** The list's filters. */
export const AlertFacetsQuery = AlertConditions.extend({ filter: AlertFilterText.optional() });
export type AlertFacetsQuery = z.infer<typeof AlertFacetsQuery>;
