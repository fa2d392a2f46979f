import { rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { readTextFile } from "@lanthorn/runtime";
import { writeFileAtomically } from "../atomic-file.ts";

/** What a running daemon leaves for `lanthorn-probe status`: a file, so that there is no socket to guard. */
export const StatusReport = z.object({
  pid: z.int(),
  version: z.string(),
  started_at: z.string(),
  written_at: z.string(),
  interval_seconds: z.number(),
  probe_id: z.string(),
  site_name: z.string().nullable(),
  collector: z.object({
    url: z.string(), connected: z.boolean(), since: z.string().nullable(), problem: z.string().nullable(),
    last_acknowledged_at: z.string().nullable(), clock_offset_ms: z.number().nullable(),
  }),
  certificate_expires_at: z.string(),
  interface: z.object({ name: z.string(), up: z.boolean(), problem: z.string().nullable(), addresses: z.array(z.string()) }),
  queue: z.object({
    events: z.number(), bytes: z.number(), oldest_at: z.string().nullable(), dropped: z.number(), writable: z.boolean(),
    in_memory: z.number(),
  }),
  hosts: z.object({ online: z.number(), known: z.number() }),
  process: z.object({ cpu_percent: z.number(), rss_bytes: z.number() }),
  alerts: z.array(z.string()),
  /** A line for each decoy beside it. */
  decoys: z.array(z.string()).default([]),
});
export type StatusReport = z.infer<typeof StatusReport>;

const path = (dataDir: string) => join(dataDir, "status.json");

/** @throws NodeJS.ErrnoException as the file system says. */
export function writeStatus(dataDir: string, report: StatusReport): void {
  writeFileAtomically(path(dataDir), `${JSON.stringify(report)}\n`, { mode: 0o644, durable: false });
}

/** @returns Null where there is none, or none that this version can read. */
export function readStatus(dataDir: string): StatusReport | null {
  try {
    return StatusReport.parse(JSON.parse(readTextFile(path(dataDir)) ?? "null"));
  } catch {
    return null;
  }
}

/** It need not be there. @throws The file system's error where it cannot be removed. */
export function removeStatus(dataDir: string): void {
  rmSync(path(dataDir), { force: true });
}
