import { type Query, readAll } from "@lanthorn/client";
import type { Scan } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";

/** The latest first, as far back as asked. */
export async function listScans({ rest }: Connection, filters: Query, limit: number): Promise<Answer> {
  const scans: Scan[] = [];
  for await (const scan of readAll(rest.listScans, filters)) {
    if (scans.length === limit) break;
    scans.push(scan);
  }
  return answer(scans);
}

/** Ends a scan that waits or goes on: what it has found stays. */
export async function cancelScan({ rest }: Connection, id: string): Promise<Answer> {
  return answer([await rest.cancelScan(id)]);
}

function answer(scans: readonly Scan[]): Answer {
  return {
    json: scans,
    table: {
      heading: ["STATUS", "TARGET", "PROFILE", "PROGRESS", "HOSTS UP", "OPEN PORTS", "STARTED", "BY", "ID"],
      rows: scans.map((scan) => [
        scan.status, scan.target, scan.profile, `${Math.round(scan.progress * 100)} %`, String(scan.hosts_up), String(scan.ports_open),
        scan.created_at, scan.requested_by, scan.id,
      ]),
    },
  };
}
