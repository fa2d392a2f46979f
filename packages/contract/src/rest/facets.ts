import * as z from "zod";
import { DeviceConditions } from "./device-conditions.ts";
import { DeviceFilterText } from "./device-filter.ts";

/** As many values of a field are counted out; the rest is in no list. */
export const MAX_FACET_VALUES = 50;

const facet = (what: string) => z.array(z.object({
  value: z.string().describe("The value, as the filter of this name takes it."),
  count: z.int().min(1).describe("Devices that have it, of those that the filter leaves."),
})).describe(`${what}, the most frequent first, at most ${MAX_FACET_VALUES}.`);

/** How often values occur in the devices that a filter leaves. Unknown ones, which are empty texts, are not counted out. */
export const DeviceFacets = z.object({
  total: z.int().min(0).describe("How many devices the filter leaves, as the list's `meta.total`."),
  site_id: facet("Sites"),
  device_type: facet("Types"),
  presence_state: facet("States of presence"),
  vendor: facet("Vendors"),
  os: facet("Operating systems"),
  tag: facet("Tags; a device can have several"),
  open_port: facet("Open ports; a device can have several"),
});
export type DeviceFacets = z.infer<typeof DeviceFacets>;

/** The list's filters. */
export const DeviceFacetsQuery = DeviceConditions.extend({ filter: DeviceFilterText.optional() });
export type DeviceFacetsQuery = z.infer<typeof DeviceFacetsQuery>;
