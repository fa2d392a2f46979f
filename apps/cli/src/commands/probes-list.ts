import { readAll } from "@lanthorn/client";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";

/** All pages. Hosts and queue are of the newest health report, `-` before the first. */
export async function listProbes({ rest }: Connection): Promise<Answer> {
  const siteNames = new Map<string, string>();
  for await (const site of readAll(rest.listSites)) siteNames.set(site.id, site.name);
  const probes = await collect(rest.listProbes);
  return {
    json: probes,
    table: {
      heading: ["NAME", "STATE", "SITE", "HOSTS", "QUEUE", "LAST HEARD", "CERTIFICATE UNTIL", "VERSION", "ID"],
      rows: probes.map((probe) => [
        probe.name, probe.state, siteNames.get(probe.site_id) ?? probe.site_id, String(probe.health?.hosts.online ?? "-"),
        String(probe.health?.queue.events ?? "-"), probe.last_heard_at ?? "never", probe.certificate_expires_at.slice(0, 10),
        probe.version || "-", probe.id,
      ]),
    },
  };
}
