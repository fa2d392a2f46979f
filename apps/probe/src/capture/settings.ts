import * as z from "zod";

/** What is watched: a key at the top of the file. */
export const captureSettings = {
  /** Linux's own limit is 15 octets; `/` and white space cannot be in a name. */
  interface: z.string().regex(/^[^/\s]{1,15}$/, "the name of an interface, as eth0 (see: ip link)").nullable().default(null),
};
