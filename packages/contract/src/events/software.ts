import * as z from "zod";
import { IpAddress, MacAddress } from "../values.ts";

/** What runs somewhere, as it names itself. Texts but the product's are empty while unknown. */
export const Software = z.object({
  vendor: z.string().max(128),
  product: z.string().min(1).max(128),
  version: z.string().max(128),
  edition: z.string().max(64),
  /** Who built it, with their release where it is known: `Debian 12`, `Ubuntu`. */
  distribution: z.string().max(64),
  /** Which build of theirs it is, in the spelling of their lists of fixed versions: `1:9.2p1-2+deb12u3`. */
  package_version: z.string().max(128),
  /** A name of CPE 2.3 as a formatted string. @see NISTIR 7695 section 6.2 */
  cpe: z.string().max(512).regex(/^(?:cpe:2\.3:[aoh*-]:\S*)?$/, "must be a CPE 2.3 name as a formatted string"),
  /** Of product and version. */
  confidence: z.number().min(0).max(1),
});
export type Software = z.infer<typeof Software>;

/** Software that one event reports of a host at most. */
export const MAX_HOST_SOFTWARE = 16;

/**
 * What hosts run beside their services: systems and firmware. Each source (`ssh:22`: who said so at which port) is reported with all that it
 * says, when that has changed; a source that is not here says what it did.
 */
export const HostSoftware = z.object({
  ip: IpAddress,
  mac: z.union([MacAddress, z.literal("")]),
  software: z.array(Software.extend({ source: z.string().min(1).max(64) })).min(1).max(MAX_HOST_SOFTWARE),
});
