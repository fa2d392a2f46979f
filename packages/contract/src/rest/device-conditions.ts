import * as z from "zod";
import { DeviceType, Id, IpNetwork, Port, PresenceState } from "../values.ts";
import { choiceQuery } from "./choice.ts";
import { CveSeverity } from "./cve-matches.ts";
import { BooleanQuery, momentQuery, PeriodQuery } from "./envelopes.ts";
import { PlainText } from "./plain-text.ts";

const PortQuery = z.string().regex(/^\d{1,5}$/, "must be a port number, 0 to 65535").transform(Number)
  .pipe(Port.max(65_535, "must be a port number, 0 to 65535"));

/** What a list of devices can be narrowed to, one parameter each. `since` and `until` are of `last_seen`. */
export const DeviceConditions = z.object({
  site_id: choiceQuery(Id, { description: "Devices of this site.", examples: ["01989f2e-7c11-7aa0-b3c4-5d6e7f809103"] }).optional(),
  is_online: BooleanQuery.optional().describe("Devices that are online (`true`) or are not (`false`)."),
  presence_state: choiceQuery(PresenceState, {
    description: "Devices in this state: `online`, `offline` or `unknown`.", examples: ["online"],
  }).optional(),
  device_type: choiceQuery(DeviceType, { description: "Devices of this type.", examples: ["router,switch", "!printer"] }).optional(),
  vendor: choiceQuery(PlainText(255), { description: "Part of the vendor's name, in any case.", examples: ["Cisco,Aruba"] }).optional(),
  os: choiceQuery(PlainText(255), { description: "Part of the operating system, in any case.", examples: ["!Windows"] }).optional(),
  tag: choiceQuery(PlainText(64), { description: "Devices that have this tag, the whole of it in this case.", examples: ["core"] }).optional(),
  subnet: choiceQuery(IpNetwork, {
    description: "Devices whose `ip` is in this network, IPv4 or IPv6. An address alone is a network of one.",
    examples: ["10.0.0.0/24,2001:db8::/32"],
  }).optional(),
  open_port: choiceQuery(PortQuery, { description: "Devices that have this port open, TCP or UDP.", examples: ["22,443"] }).optional(),
  cve_severity: choiceQuery(CveSeverity, {
    description: "Devices with a known vulnerability of this severity that counts: open, and likely or confirmed.", examples: ["critical,high"],
  }).optional(),
  search: PlainText(255).optional().describe("Part of the hostname, an IP address or a MAC address, in any case."),
  ...PeriodQuery.shape,
  found_since: momentQuery("Devices that were seen for the first time from this moment on"),
  found_until: momentQuery("Devices that were seen for the first time before this moment"),
});
export type DeviceConditions = z.infer<typeof DeviceConditions>;
