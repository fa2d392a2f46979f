import * as z from "zod";
import { Prefix } from "../egress/settings.ts";

/** Intrusion detection: `[ids]`. */
export const IntrusionSettings = z.strictObject({
  /** The site's own networks: rules know them as HOME_NET, and alerts are about their hosts. Empty for private addresses and the subnets of the interface. */
  home_networks: z.array(Prefix).max(256).default([]),
  /** What a Suricata beside the probe writes. */
  eve: z.strictObject({
    /** The file of an `eve-log` with `filetype: regular`. */
    file: z.string().startsWith("/").max(4096).nullable().default(null),
    /** Where the probe listens for an `eve-log` with `filetype: unix_stream`. Its folder must be there. */
    socket: z.string().startsWith("/").max(107).nullable().default(null),
  }).prefault({}),
}).prefault({});
export type IntrusionSettings = z.infer<typeof IntrusionSettings>;
