import * as z from "zod";
import { Software } from "../events/software.ts";
import { DeviceType, Evidence, Id, Instant, IpAddress, MacAddress, Port, PortProtocol, PortState, PresenceState } from "../values.ts";
import { bulkRequest } from "./bulk.ts";
import { DeviceConditions } from "./device-conditions.ts";
import { DeviceFilterText } from "./device-filter.ts";
import { PageQuery } from "./envelopes.ts";
import { MacInput } from "./mac.ts";
import { PlainText } from "./plain-text.ts";
import { DeviceCve } from "./cve-matches.ts";
import { DeviceNeighbor } from "./topology.ts";

/** Texts are empty while unknown; `device_type` is then `unknown`. */
export const Device = z.object({
  id: Id.describe("The device's id."),
  ip: z.string().describe("Its main IPv4 or IPv6 address. Empty while unknown."),
  mac: z.string().describe("Its main MAC address: lower-case hexadecimal pairs with colons. Empty while unknown."),
  hostname: z.string().describe("Its name on the network. Empty while unknown."),
  vendor: z.string().describe("Who made it. Empty while unknown."),
  os_guess: z.string().describe("Its operating system, as far as it shows. Empty while unknown."),
  device_type: DeviceType.describe("What kind of device it is. `unknown` while there is no evidence."),
  is_online: z.boolean().describe("Whether it is on the network. While `presence_state` is `unknown`, the last known state."),
  presence_state: PresenceState.describe("`online`, `offline`, or `unknown` while the site's probe is silent."),
  first_seen: Instant.nullable().describe("When it was seen first. Null for a manually created device that was not seen yet."),
  last_seen: Instant.nullable().describe("When it was seen last. Null for a manually created device that was not seen yet."),
  site_id: Id.describe("The site that it is at."),
  open_ports: z.array(Port).describe("Numbers of its open TCP and UDP ports, ascending."),
  tags: z.array(z.string()).describe("Tags that users gave it."),
});
export type Device = z.infer<typeof Device>;

const software = Software.shape;
/** What runs somewhere. Texts but the product's are empty while unknown. */
const SoftwareRecord = z.object({
  vendor: software.vendor.describe("Who makes it, as `OpenBSD`. Empty while unknown."),
  product: software.product.describe("Its name, as `OpenSSH`."),
  version: software.version.describe("Its version, as `9.2p1`. Empty while unknown."),
  edition: software.edition.describe("Its edition. Empty while unknown."),
  distribution: software.distribution.describe("Who built it, with the release where it is known, as `Debian 12`. Empty while unknown."),
  package_version: software.package_version.describe("The distribution's own version, as `1:9.2p1-2+deb12u3`. Empty while unknown."),
  cpe: software.cpe.describe("Its name in CPE 2.3. Empty while unknown."),
  confidence: software.confidence.describe("How sure product and version are, 0 to 1."),
});

const PortSoftware = SoftwareRecord.nullable()
  .describe("The software that answers there, with version, build and CPE. Null while nothing names it.");

/** Software of a device itself: its system or firmware. What several sources say alike is one. */
const DeviceSoftware = SoftwareRecord.extend({
  sources: z.array(z.string()).describe("The sources that agree, each with its port, as `ssh:22`."),
  first_seen: Instant.describe("When it was seen first."),
  last_seen: Instant.describe("When a source reported it last. One that reports the same again is not written down."),
});

/** A port of a device, as it was at its last scan. */
export const PortRecord = z.object({
  port: Port.describe("The port's number."),
  protocol: PortProtocol.describe("`tcp` or `udp`."),
  state: PortState.describe("The port's state in nmap's words."),
  service: z.string().describe("What answers there, as `ssh`. Empty while unknown."),
  version: z.string().describe("The software and its version. Empty while unknown."),
  banner: z.string().describe("What the service says first, at most 4096 characters. Empty while unknown."),
  software: PortSoftware,
  last_scanned: Instant.describe("When the port was last scanned."),
});
export type PortRecord = z.infer<typeof PortRecord>;

/** One change of a device: the field, its values before and after, and the source. */
export const DeviceChange = z.object({
  at: Instant.describe("When it changed."),
  field: z.string().describe("The field that changed, as `hostname`."),
  before: z.string().describe("The value before. Empty where there was none."),
  after: z.string().describe("The value after. Empty where there is none."),
  source: z.string().describe("The source: a protocol as `dhcp`, or a user."),
});

/** A network interface of a device; a device has one or more. */
export const DeviceInterface = z.object({
  mac: z.union([MacAddress, z.literal("")]).describe("The interface's MAC address. Empty for one behind a router."),
  vendor: z.string().describe("Who the MAC's prefix is registered to. Empty while unknown."),
  addresses: z.array(z.object({
    ip: z.string().describe("The IP address."),
    first_seen: Instant.nullable().describe("When it was seen there first. Null for one that a user entered and that was not seen yet."),
    last_seen: Instant.nullable().describe("When it was seen there last. Null for one that a user entered and that was not seen yet."),
    current: z.boolean().describe("Whether the interface has it now."),
  })).describe("IP addresses that it has or had."),
});

/** Another device that was merged into this one: by which keys, or by whom. Its id is for undoing the merge. */
const DeviceMerge = z.object({
  id: Id.describe("The merge's id. Send it as `merge_id` to split the two again."),
  merged_id: Id.describe("The id of the device that was merged into this one."),
  at: Instant.describe("When they were merged."),
  by: z.object({
    type: z.string().describe("`user`, `key`, or `system` for the collector."),
    id: z.string().describe("The actor's id. Empty for the collector."),
    name: z.string().describe("The actor's name. Empty for the collector."),
  }).describe("Who merged them."),
  reasons: z.array(z.object({
    key: z.string().describe("What both have: a field and its value, as `ssh_host_key ssh-ed25519 SHA256:…`."),
    source: z.string().describe("Where it was seen, as `ssh`."),
  })).describe("What both have in common. Empty where a user merged them."),
});

/** The conclusion from all evidence of a field. `sources` agree, the strongest first; `confidence` is 0.5 to 1. */
const DeviceVerdict = z.object({
  value: z.string().describe("The value."),
  confidence: z.number().min(0).max(1).describe("How sure that is, 0.5 to 1."),
  sources: z.array(z.string()).describe("The sources that agree, the strongest first, as `snmp`."),
});
const verdict = (what: string) => DeviceVerdict.describe(`The verdict on its ${what}.`);

const { value, source, confidence, seen_at: seenAt } = Evidence.shape;
const DeviceEvidence = z.object({
  value: value.describe("The value that was seen."),
  source: source.describe("Where it was seen, as `dhcp` or `mdns:_ipp._tcp`."),
  confidence: confidence.describe("How sure that is, 0 to 1."),
  seen_at: seenAt.describe("When it was seen last."),
});

/** The full profile: newest change first, at most 100. */
export const DeviceProfile = Device.extend({
  interfaces: z.array(DeviceInterface).describe("Its network interfaces with their addresses."),
  ports: z.array(PortRecord).describe("Its ports by number, in every state."),
  services: z.array(z.object({
    port: Port.describe("The port's number."),
    protocol: PortProtocol.describe("`tcp` or `udp`."),
    name: z.string().describe("The service, as `ssh`."),
    version: z.string().describe("The software and its version. Empty while unknown."),
    software: PortSoftware,
    open_cves: z.int().min(0).describe("Known vulnerabilities of it that count: open, and likely or confirmed."),
  })).describe("What answers on its open ports, as far as that is known."),
  software: z.array(DeviceSoftware).describe("Its system and firmware, the surest first, at most 64."),
  cves: z.array(DeviceCve).describe(
    "Known vulnerabilities of its software, each service by itself: what counts first, then what does not (possible, patched, suppressed), in each the known exploited "
      + "first, then by EPSS and CVSS; at most 200. `GET /cve/affected?device_id=` has all.",
  ),
  neighbors: z.array(DeviceNeighbor).describe("Its links to other devices."),
  history: z.array(DeviceChange).describe("Its last changes, newest first, at most 100."),
  evidence: z.record(z.string(), z.array(DeviceEvidence))
    .describe("What was seen, by field: each value with its source, how sure it is, and when it was seen last."),
  verdicts: z.object({
    os: verdict("operating system"), os_version: verdict("operating system's version"), device_type: verdict("type"),
    vendor: verdict("vendor"), model: verdict("model"), hostname: verdict("name"),
  }).partial().describe("The verdict by field, where there is enough evidence. A value that a user set does not change it."),
  locked_fields: z.array(z.string()).describe("Fields that a user set. Discovery does not overwrite them."),
  merges: z.array(DeviceMerge).describe("Devices that were merged into this one. They can be split again."),
});
export type DeviceProfile = z.infer<typeof DeviceProfile>;

/** The ports of a device by number, whatever their state. */
export const DevicePorts = z.object({
  data: z.array(PortRecord).describe("The ports by number, in every state."),
});
export type DevicePorts = z.infer<typeof DevicePorts>;

/** Fields that `sort` of `DevicesQuery` takes, each with or without `-`. */
export const DEVICE_SORT_FIELDS = ["ip", "hostname", "last_seen", "vendor"] as const;

const DeviceFilterQuery = DeviceConditions.extend({
  filter: DeviceFilterText.optional(),
  sort: z.enum(DEVICE_SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const)).default("ip")
    .describe("The order: a field ascends, `-` before it descends. Equal ones are ordered by id. Names sort without regard to case and accents "
      + "and with numbers by value (`ap2`, `AP10`). Devices without a hostname or vendor come last in both directions of that order."),
});

/** A page of the inventory; every filter must match. `since` and `until` are of `last_seen`. */
export const DevicesQuery = PageQuery.extend(DeviceFilterQuery.shape);
export type DevicesQuery = z.infer<typeof DevicesQuery>;

/** As the list, all pages of it. */
export const DevicesExportQuery = DeviceFilterQuery;
export type DevicesExportQuery = z.infer<typeof DevicesExportQuery>;

const Tags = z.array(PlainText(64).min(1)).max(64).transform((tags) => [...new Set(tags)]);

/** A manually created device: `ip` or `mac` is needed; `site_id` may be left out where the tenant has one site. */
export const DeviceCreate = z.strictObject({
  site_id: Id.optional().describe("The site that it is at. May be left out where the tenant has one site."),
  ip: IpAddress.optional().describe("Its IPv4 or IPv6 address. Needed where `mac` is left out."),
  mac: MacInput.optional().describe("Its MAC address. Needed where `ip` is left out."),
  hostname: PlainText(255).optional().describe("Its name, at most 255 characters."),
  device_type: DeviceType.optional().describe("What kind of device it is."),
  tags: Tags.optional().describe("Tags to find it by, at most 64."),
  locked_fields: z.array(z.enum(["ip", "mac"])).max(2).optional()
    .describe("`ip`, `mac` or both: discovery does not change them. The other fields that are set here are locked anyway."),
}).refine((device) => device.ip !== undefined || device.mac !== undefined, { path: ["ip"], message: "ip or mac is needed" })
  .refine(({ locked_fields: locked = [], ip, mac }) => locked.every((field) => (field === "ip" ? ip : mac) !== undefined), {
    path: ["locked_fields"], message: "must name fields that are set here",
  });
export type DeviceCreate = z.infer<typeof DeviceCreate>;

/** Fields left out stay. One that is set is locked: discovery never overwrites it. Null unlocks it and shows what discovery says. */
export const DeviceUpdate = z.strictObject({
  ip: IpAddress.nullish().describe("Its main IPv4 or IPv6 address. Null unlocks it for discovery."),
  mac: MacInput.nullish().describe("Its main MAC address. Null unlocks it for discovery."),
  hostname: PlainText(255).nullish().describe("Its name. Null unlocks it for discovery."),
  vendor: PlainText(255).nullish().describe("Who made it. Null unlocks it for discovery."),
  os_guess: PlainText(255).nullish().describe("Its operating system. Null unlocks it for discovery."),
  device_type: DeviceType.nullish().describe("What kind of device it is. Null unlocks it for discovery."),
  tags: Tags.nullish().describe("Tags, in place of those it has. Null removes them."),
});
export type DeviceUpdate = z.infer<typeof DeviceUpdate>;

/** What is done to each of many devices. Fields left out stay; with `delete` there is nothing else. */
export const DeviceBulkChange = z.strictObject({
  add_tags: Tags.optional().describe("Tags that each gets beside those it has. One that would have more than 64 keeps those it has."),
  remove_tags: Tags.optional().describe("Tags that each loses."),
  device_type: DeviceUpdate.shape.device_type,
  vendor: DeviceUpdate.shape.vendor,
  os_guess: DeviceUpdate.shape.os_guess,
  delete: z.literal(true).optional().describe("Deletes them, as `DELETE /devices/{device_id}` does."),
}).refine((change) => Object.values(change).some((value) => value !== undefined), "at least one change is needed")
  .refine(({ delete: isDeleted, ...others }) => isDeleted === undefined || Object.values(others).every((value) => value === undefined), {
    path: ["delete"], message: "what is deleted cannot be changed as well",
  });
export type DeviceBulkChange = z.infer<typeof DeviceBulkChange>;

/** A change of all devices that a filter leaves, or of some. */
export const DeviceBulkRequest = bulkRequest(DeviceFilterText, DeviceBulkChange);
export type DeviceBulkRequest = z.infer<typeof DeviceBulkRequest>;

/** A device that may be the same as another one. `score` is 0 to 1; `reasons` are what they have in common. */
export const SimilarDevice = z.object({
  device: Device.describe("The other device."),
  score: z.number().min(0).max(1).describe("How likely they are the same, 0 to 1."),
  reasons: z.array(z.object({
    trait: z.enum(["key", "hostname", "ip", "random_mac", "vendor"])
      .describe("What kind of thing both have. `key` is one that no two machines have, as an SSH host key."),
    value: z.string().describe("What both have."),
  })).describe("What both have in common."),
});
export type SimilarDevice = z.infer<typeof SimilarDevice>;

const ONE_OF_TWO = "one of the two is needed, and not both";

/** `into`: the other device is kept; `with`: this one is. */
export const DeviceMergeRequest = z.strictObject({
  into: Id.optional().describe("The other device. It is kept, and this one is merged into it."),
  with: Id.optional().describe("The other device. It is merged into this one."),
})
  .refine((request) => (request.into === undefined) !== (request.with === undefined), { path: ["into"], message: ONE_OF_TWO });
export type DeviceMergeRequest = z.infer<typeof DeviceMergeRequest>;

/** `merge_id`: a merge to undo; `interfaces`: MACs that are another device's. */
export const DeviceSplitRequest = z.strictObject({
  merge_id: Id.optional().describe("A merge to undo: the `id` of one of the profile's `merges`."),
  interfaces: z.array(MacInput).min(1).max(64).optional()
    .describe("MAC addresses of this device that are another device's; not all that it has."),
})
  .refine((request) => (request.merge_id === undefined) !== (request.interfaces === undefined),
    { path: ["merge_id"], message: ONE_OF_TWO });
export type DeviceSplitRequest = z.infer<typeof DeviceSplitRequest>;
