import { isIP } from "node:net";
import * as z from "zod";

/** Name servers: a key at the top of the file. */
export const namingSettings = {
  /** Asked for the names of addresses; the interface's own gateways unless set, and nobody when empty. */
  name_servers: z.array(z.string().refine((text) => isIP(text) !== 0, "an address, as 10.0.0.1")).max(8).nullable().default(null),
};
