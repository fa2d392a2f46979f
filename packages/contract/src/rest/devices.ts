import * as z from "zod";
import { DeviceType, Evidence, Id, Instant, IpAddress, MacAddress, Port, PortProtocol, PortState, PresenceState } from "../values.ts";
import { BooleanQuery, PageQuery, PeriodQuery } from "./envelopes.ts";
import { MacInput } from "./mac.ts";
import { DeviceNeighbor } from "./topology.ts";

/** Texts are empty while unknown; `device_type` is then `unknown`. */
export const Device = z.object({
  id: Id,
  ip: z.string(),
  mac: z.string(),
  hostname: z.string(),
  vendor: z.string(),
  os_guess: z.string(),
  device_type: DeviceType,
  is_online: z.boolean(),
  presence_state: PresenceState,
  first_seen: Instant,
  last_seen: Instant,
  site_id: Id,
  open_ports: z.array(Port),
  tags: z.array(z.string()),
});
export type Device = z.infer<typeof Device>;

export const PortRecord = z.object({
  port: Port,
  protocol: PortProtocol,
  state: PortState,
  service: z.string(),
  version: z.string(),
  banner: z.string(),
  last_scanned: Instant,
});
export type PortRecord = z.infer<typeof PortRecord>;

/** One change of a device: which field, from what to what, and what said so. */
export const DeviceChange = z.object({ at: Instant, field: z.string(), before: z.string(), after: z.string(), source: z.string() });

export const DeviceInterface = z.object({
  mac: z.union([MacAddress, z.literal("")]),
  vendor: z.string(),
  addresses: z.array(z.object({ ip: z.string(), first_seen: Instant, last_seen: Instant, current: z.boolean() })),
});

/** Another device that was found to be this one: by which keys, or by whom. Its id is for undoing it. */
const DeviceMerge = z.object({
  id: Id,
  merged_id: Id,
  at: Instant,
  by: z.object({ type: z.string(), id: z.string(), name: z.string() }),
  reasons: z.array(z.object({ key: z.string(), source: z.string() })),
});

/** What everything that is known of a field comes to. `sources` agree, the strongest first; `confidence` is 0.5 to 1. */
const DeviceVerdict = z.object({ value: z.string(), confidence: z.number().min(0).max(1), sources: z.array(z.string()) });

/** The full profile: newest change first, at most 100. */
export const DeviceProfile = Device.extend({
  interfaces: z.array(DeviceInterface),
  ports: z.array(PortRecord),
  services: z.array(z.object({ port: Port, protocol: PortProtocol, name: z.string(), version: z.string() })),
  cves: z.array(z.string()),
  neighbors: z.array(DeviceNeighbor),
  history: z.array(DeviceChange),
  evidence: z.record(z.string(), z.array(Evidence.omit({ field: true }))),
  /**
   * By field, as far as the evidence says enough: what is believed of the device. A field that a person set is shown as that says
   * all the same.
   */
  verdicts: z.object({
    os: DeviceVerdict, os_version: DeviceVerdict, device_type: DeviceVerdict, vendor: DeviceVerdict, model: DeviceVerdict,
    hostname: DeviceVerdict,
  }).partial(),
  locked_fields: z.array(z.string()),
  merges: z.array(DeviceMerge),
});
export type DeviceProfile = z.infer<typeof DeviceProfile>;

/** The ports of a device by number, whatever their state. */
export const DevicePorts = z.object({ data: z.array(PortRecord) });
export type DevicePorts = z.infer<typeof DevicePorts>;

export const DEVICE_SORT_FIELDS = ["ip", "hostname", "last_seen", "vendor"] as const;

/** Control characters are never meant, end up in terminals and spreadsheets, and PostgreSQL does not take the NUL among them. */
const NO_CONTROL = /^\P{Cc}*$/u;
const Text = (longest: number) => z.string().trim().max(longest).regex(NO_CONTROL, "no control characters");

/** `since` and `until` are of `last_seen`; texts match any part in any case, `tag` the whole of one tag. */
const DeviceFilterQuery = z.object({
  site_id: Id.optional(),
  is_online: BooleanQuery.optional(),
  presence_state: PresenceState.optional(),
  device_type: DeviceType.optional(),
  vendor: Text(255).optional(),
  os: Text(255).optional(),
  tag: Text(64).optional(),
  search: Text(255).optional(),
  ...PeriodQuery.shape,
  /** `sort=field` ascends and `sort=-field` descends. */
  sort: z.enum(DEVICE_SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const)).default("ip"),
});

export const DevicesQuery = PageQuery.extend(DeviceFilterQuery.shape);
export type DevicesQuery = z.infer<typeof DevicesQuery>;

/** As the list, all pages of it. */
export const DevicesExportQuery = DeviceFilterQuery;
export type DevicesExportQuery = z.infer<typeof DevicesExportQuery>;

const Tags = z.array(Text(64).min(1)).max(64).transform((tags) => [...new Set(tags)]);

/** A device made by hand: `ip` or `mac` is needed; `site_id` may be left out where the tenant has one site. */
export const DeviceCreate = z.strictObject({
  site_id: Id.optional(),
  ip: IpAddress.optional(),
  mac: MacInput.optional(),
  hostname: Text(255).optional(),
  device_type: DeviceType.optional(),
  tags: Tags.optional(),
}).refine((device) => device.ip !== undefined || device.mac !== undefined, { path: ["ip"], message: "ip or mac is needed" });
export type DeviceCreate = z.infer<typeof DeviceCreate>;

/** Fields left out stay. One that is set is locked: discovery never overwrites it. Null unlocks it and shows what discovery says. */
export const DeviceUpdate = z.strictObject({
  ip: IpAddress.nullish(),
  mac: MacInput.nullish(),
  hostname: Text(255).nullish(),
  vendor: Text(255).nullish(),
  os_guess: Text(255).nullish(),
  device_type: DeviceType.nullish(),
  tags: Tags.nullish(),
});
export type DeviceUpdate = z.infer<typeof DeviceUpdate>;

/** A device that may be the same as another one. `score` is 0 to 1; `reasons` are what they have in common. */
export const SimilarDevice = z.object({
  device: Device,
  score: z.number().min(0).max(1),
  reasons: z.array(z.object({ trait: z.enum(["key", "hostname", "ip", "random_mac", "vendor"]), value: z.string() })),
});
export type SimilarDevice = z.infer<typeof SimilarDevice>;

const ONE_OF_TWO = "one of the two is needed, and not both";

/** `into`: the other device is kept; `with`: this one is. */
export const DeviceMergeRequest = z.strictObject({ into: Id.optional(), with: Id.optional() })
  .refine((request) => (request.into === undefined) !== (request.with === undefined), { path: ["into"], message: ONE_OF_TWO });
export type DeviceMergeRequest = z.infer<typeof DeviceMergeRequest>;

/** `merge_id`: a merge to undo; `interfaces`: MACs that are another device's. */
export const DeviceSplitRequest = z.strictObject({ merge_id: Id.optional(), interfaces: z.array(MacInput).min(1).max(64).optional() })
  .refine((request) => (request.merge_id === undefined) !== (request.interfaces === undefined),
    { path: ["merge_id"], message: ONE_OF_TWO });
export type DeviceSplitRequest = z.infer<typeof DeviceSplitRequest>;
