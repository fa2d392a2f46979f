import { isIP } from "node:net";
import * as z from "zod";

/** Switches and routers that are asked who is connected to them: `[snmp]`. */
export const SnmpSettings = z.strictObject({
  /** Switches and routers to ask beside those that a credential of the vault names alone, or that announce themselves. */
  devices: z.array(z.string().refine((text) => isIP(text) !== 0, "an address, as 10.0.0.1")).max(64).default([]),
  interval_seconds: z.int().min(60).max(86_400).default(300),
  /** False: nobody is asked with a credential. */
  enabled: z.boolean().default(true),
}).prefault({});
