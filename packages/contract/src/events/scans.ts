import { z } from "zod";
import { Id, IpAddress, MacAddress } from "../values.ts";

const Scan = z.object({ scan_id: Id, target: z.string().max(255), profile: z.string().max(32) });

const counts = { hosts_total: z.int().min(0), hosts_up: z.int().min(0), ports_open: z.int().min(0) };

export const ScanStarted = Scan.extend({ hosts_total: counts.hosts_total });

/** How far a scan is, from 0 to 1; at least once a minute while it runs. */
export const ScanProgress = Scan.extend({ progress: z.number().min(0).max(1), ...counts });

/** Hosts that answered a scan, each once. Open ports are `port_found` events with the scan's id. */
export const ScanResults = z.object({
  scan_id: Id,
  hosts: z.array(z.object({ ip: IpAddress, mac: z.union([MacAddress, z.literal("")]) })).min(1).max(256),
});

const ended = { ...counts, duration_seconds: z.number().min(0) };

export const ScanComplete = Scan.extend(ended);

/** Somebody ended it; what was found until then is told. */
export const ScanCancelled = Scan.extend(ended);

export const ScanFailed = Scan.extend({ reason: z.string().max(1024) });
