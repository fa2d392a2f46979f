import { readAll } from "@lanthorn/client";
import type { Changes } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { shortTime } from "../short-time.ts";
import { siteFilter } from "../site-id.ts";

/** Since when, and where. */
export interface ChangesOptions {
  /** A duration or a moment; left out, since the person looked last. */
  readonly since?: string;
  readonly site?: string;
}

type Counts = Changes["total"];

/** What changed since a moment, of all and of each site. @throws CliError `not-found`. */
export async function showChanges({ rest }: Pick<Connection, "rest">, { since, site }: ChangesOptions): Promise<Answer> {
  const changes = await rest.countChanges({ ...(since !== undefined && { since }), ...await siteFilter(rest, site) });
  const names = new Map<string, string>();
  if (changes.sites.length > 0) for await (const { id, name } of readAll(rest.listSites)) names.set(id, name);
  return {
    json: changes,
    table: {
      heading: ["SITE", "ALERTS", "RESOLVED", "NEW DEVICES", "GONE", "SILENT PROBES", "VULNERABILITIES", "CONFIGURATIONS"],
      keptColumns: 5,
      rows: [["all", ...cellsOf(changes.total)], ...changes.sites.map(({ site_id: id, ...counts }) => [names.get(id) ?? id, ...cellsOf(counts)])],
    },
    notes: [`from ${shortTime(changes.since)} to ${shortTime(changes.until)}`],
  };
}

function cellsOf({ devices, alerts, vulnerabilities, configurations, silent_probes: silent }: Counts): readonly string[] {
  const { resolved, ...bySeverity } = alerts;
  const raised = Object.entries(bySeverity).filter(([, count]) => count > 0).map(([severity, count]) => `${count} ${severity}`).join(", ");
  return [raised || "0", ...[resolved, devices.new, devices.gone, silent, vulnerabilities, configurations].map(String)];
}
