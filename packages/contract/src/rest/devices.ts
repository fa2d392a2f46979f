import { z } from "zod";
import { DeviceType, Evidence, Id, Instant, MacAddress, Port, PortProtocol, PortState, PresenceState } from "../values.ts";
import { BooleanQuery, PageQuery } from "./envelopes.ts";

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

/** The full profile: newest change first, at most 100. */
export const DeviceProfile = Device.extend({
  interfaces: z.array(DeviceInterface),
  ports: z.array(PortRecord),
  services: z.array(z.object({ port: Port, protocol: PortProtocol, name: z.string(), version: z.string() })),
  cves: z.array(z.string()),
  neighbors: z.array(z.object({ protocol: z.string(), system_name: z.string(), port_id: z.string(), last_seen: Instant })),
  history: z.array(DeviceChange),
  evidence: z.record(z.string(), z.array(Evidence.omit({ field: true }))),
  locked_fields: z.array(z.string()),
});
export type DeviceProfile = z.infer<typeof DeviceProfile>;

export const DEVICE_SORT_FIELDS = ["ip", "hostname", "last_seen", "vendor"] as const;

/** `sort=field` ascends and `sort=-field` descends. */
export const DevicesQuery = PageQuery.extend({
  site_id: Id.optional(),
  is_online: BooleanQuery.optional(),
  vendor: z.string().max(255).optional(),
  os: z.string().max(255).optional(),
  search: z.string().max(255).optional(),
  sort: z.enum(DEVICE_SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const)).default("ip"),
});
export type DevicesQuery = z.infer<typeof DevicesQuery>;
