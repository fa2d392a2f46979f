import * as z from "zod";
import { Prefix } from "../egress/settings.ts";

/** A gigabit link carries 1.5 million of a scan's frames, 100 Mbit/s 150,000: then the interface's queue slows it down. */
const DEFAULT_PACKETS_PER_SECOND = 200_000;

/** Scans at somebody's word: `[scan]`. */
export const ScanSettings = z.strictObject({
  /** The most that a scan at somebody's word may reach; it goes slower by itself where frames get lost. */
  packets_per_second: z.int().min(1).max(1_000_000).default(DEFAULT_PACKETS_PER_SECOND),
  /** Networks behind routers that the collector may have scanned, or asked by SNMP, beside the own subnets and `sweep.routed`. */
  networks: z.array(Prefix).max(256).default([]),
}).prefault({});
export type ScanSettings = z.infer<typeof ScanSettings>;
