import * as z from "zod";
import { Instant, IpNetwork, MacAddress, Port } from "../values.ts";

/** Exemptions of a site that have not expired. A probe's configuration fits a message with them. */
export const MAX_DECOY_EXEMPTIONS = 32;
/** Addresses and networks of one. */
export const MAX_EXEMPT_ADDRESSES = 32;
/** Ports of one. */
export const MAX_EXEMPT_PORTS = 32;
/** Decoys of one probe, and services of all of them, that it reports. */
export const MAX_REPORTED_DECOYS = 64;
const MAX_SERVICES = 64;

/** Hours of the day as `22:00-04:30`, in the time zone of the probe's machine. */
export const ExemptHours = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d$/, "hours of the day as 22:00-04:30");

/** Who may touch decoys, and is only counted. */
export const DecoyExemption = z.object({
  name: z.string().min(1).max(64),
  addresses: z.array(IpNetwork).min(1).max(MAX_EXEMPT_ADDRESSES),
  /** None: all. */
  ports: z.array(Port).max(MAX_EXEMPT_PORTS).default([]),
  /** Left out: always. */
  hours: ExemptHours.optional(),
  /** ISO 8601 in UTC; left out for one without an end. */
  until: Instant.optional(),
});
export type DecoyExemption = z.infer<typeof DecoyExemption>;

/** The part `decoys` of a probe's configuration: added to what the decoys' own file exempts. */
export const DecoysPart = z.object({ exemptions: z.array(DecoyExemption).max(MAX_DECOY_EXEMPTIONS) });
export type DecoysPart = z.infer<typeof DecoysPart>;

const Count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** How far an address is that a decoy takes for itself. */
export const OWN_ADDRESS_STATES = ["probing", "taken", "in_use", "failed"] as const;

/** An address of a decoy's own, with a MAC address of its own. */
export const OwnAddressReport = z.object({
  interface: z.string().max(32).describe("The probe's interface on which it is."), mac: MacAddress.describe("Its MAC address."),
  state: z.enum(OWN_ADDRESS_STATES).describe("`probing`: it is found out whether it is free. `taken`: it is the decoy's. `in_use`: another device has it, and it was left to that one. `failed`: see `problem`."),
  used_by: MacAddress.nullable().describe("The MAC address of the device that has it. Null where none is known."),
  is_mac_refused: z.boolean().nullable().describe("Whether the switch or the hypervisor lets no frame of the MAC address through. Null while unknown."),
  problem: z.string().max(255).nullable().describe("Why nobody reaches it. Null where that is not known."),
});
export type OwnAddressReport = z.infer<typeof OwnAddressReport>;

/** One decoy, as its process serves it. */
export const DecoyReport = z.object({
  name: z.string().min(1).max(64).describe("By which it is reported."), address: z.string().max(64).describe("Its address."),
  persona: z.string().max(32).describe("What it claims to be, as `nas`."), hostname: z.string().max(63).describe("As its services say it."),
  services: z.array(z.object({
    service: z.string().max(64).describe("The service, as `ssh`."), port: Port.describe("Its port."),
    problem: z.string().max(255).nullable().describe("Why it is not served. Null where it is."),
  })).max(MAX_SERVICES).describe("Its services."),
  own_address: OwnAddressReport.optional().describe("Of a decoy that takes its address for itself. Left out for an address of the probe's machine."),
});
export type DecoyReport = z.infer<typeof DecoyReport>;

/** The decoys beside a probe. Counts are since their process began. */
export const DecoysState = z.object({
  is_running: z.boolean().describe("Whether their process is there. If not, the rest is what it said last."),
  decoys: z.array(DecoyReport).max(MAX_REPORTED_DECOYS).describe("Each decoy."),
  sessions: Count.describe("Connections that are open."), connections: Count.describe("Connections since it began."),
  failures: Count.describe("Connections that a fault of a service ended."), vanished: Count.describe("Connections that were gone before anybody could see from where they came."),
  exempt: z.array(z.object({
    name: z.string().max(64).describe("The exemption."), connections: Count.describe("How often it was used."),
  })).max(4 * MAX_DECOY_EXEMPTIONS).describe("Connections of those who are exempt."),
});
export type DecoysState = z.infer<typeof DecoysState>;
