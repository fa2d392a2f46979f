import * as z from "zod";
import { Software } from "./software.ts";
import { IpAddress, MacAddress, Port, PortProtocol, PortState } from "../values.ts";

/** A port whose state or service was learned or changed; texts are empty while unknown. */
export const PortFound = z.object({
  ip: IpAddress,
  mac: z.union([MacAddress, z.literal("")]),
  port: Port,
  protocol: PortProtocol,
  state: PortState,
  service: z.string().max(64),
  version: z.string().max(255),
  banner: z.string().max(4096),
  scan_id: z.string().max(64).nullable(),
  /** What answers, as naming found it; null where that names no product. Left out while nobody has asked, and by older probes. */
  software: Software.nullable().optional(),
});
