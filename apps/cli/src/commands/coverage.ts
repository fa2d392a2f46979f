import type { SiteCoverage } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { shortTime } from "../short-time.ts";
import { oneSite } from "../site-id.ts";
import { formatTable, printable, wrap } from "../table.ts";

const FACTS: Readonly<Record<SiteCoverage["probes"][number]["facts"][number]["fact"], string>> = {
  own_networks: "own networks", vlans: "VLANs", other_hosts: "other hosts", gateway: "gateway", lldp: "LLDP", cdp: "CDP", spanning_tree: "spanning tree", ipv6: "IPv6",
  dhcp: "DHCP",
};

/** What a site's probes can see, which detectors are therefore blind, and what to change. */
export async function showCoverage({ rest }: Pick<Connection, "rest">, site: string | undefined): Promise<Answer> {
  const coverage = await rest.readSiteCoverage(await oneSite(rest, site));
  return { json: coverage, text: (width) => coverage.probes.map((probe) => describe(probe, width)).join("\n\n") || "The site has no probe." };
}

function describe({ name, is_online: isOnline, reported_at: at, facts, detectors }: SiteCoverage["probes"][number], width: number): string {
  if (detectors.length === 0) return `${printable(name)}: has not reported what it sees yet`;
  const head = `${printable(name)}${isOnline ? "" : ": silent now, and sees nothing; this is what it saw"}${at === null ? "" : `, as of ${shortTime(at)}`}`;
  const shown = at === null ? "" : formatTable({ heading: ["SEES", "", "SINCE"], rows: facts.map(({ fact, value, since }) => [
    FACTS[fact], value, since === null ? "-" : shortTime(since),
  ]) }, width);
  const table = formatTable({ heading: ["DETECTOR", "STATE", "WHY"], rows: detectors.map((row) => [row.name, row.state, row.why]) }, width);
  const todo = [...new Set(detectors.flatMap(({ what_to_do: what }) => what ?? []))].flatMap((what) => wrap(`- ${what}`, width));
  return [
    wrap(head, width).join("\n"), ...(shown === "" ? [] : [shown]), table, ...(todo.length === 0 ? [] : [["To see more:", ...todo].join("\n")]),
  ].join("\n\n");
}
