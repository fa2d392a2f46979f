import { ProbeConfiguration } from "@lanthorn/contract/uplink";
import * as z from "zod";

/** What the daemon does for the decoys of this machine: `[decoy]`. */
export const DecoyLinkSettings = z.strictObject({
  /** The folder that it shares with the decoys' process, which is another user. The service's unit names it; decoys are heard where it is there. */
  directory: z.string().min(1).nullable().default(null),
}).prefault({});

/** What the collector sets of the decoys. */
export const decoysPart = ProbeConfiguration.pick({ decoys: true, password_key: true });
