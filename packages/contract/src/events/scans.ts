import { z } from "zod";
import { Id } from "../values.ts";

const Scan = z.object({ scan_id: Id, target: z.string().max(255), profile: z.string().max(32) });

export const ScanStarted = Scan.extend({ hosts_total: z.int().min(0) });

export const ScanComplete = Scan.extend({
  hosts_total: z.int().min(0),
  hosts_up: z.int().min(0),
  ports_open: z.int().min(0),
  duration_seconds: z.number().min(0),
});

export const ScanFailed = Scan.extend({ reason: z.string().max(1024) });
