import { Severity, type SiteSummary } from "@lanthorn/contract";
import { Link } from "@tanstack/react-router";
import { Foreign } from "../texts/foreign.tsx";
import { Mark } from "../parts/mark.tsx";
import { Table } from "../fields/table.tsx";

const WEIGHTS: Readonly<Record<Severity, number>> = { critical: 1_000_000, high: 10_000, medium: 100, low: 1, info: 0 };
/** A site that nobody sees may have any trouble. */
const SILENT_WEIGHT = 100_000;

/** Sites with their probes and open alerts; whoever has the worst ones is first. */
export function SitesTable({ sites }: { readonly sites: readonly SiteSummary[] }) {
  const rows = sites.map((site) => ({ ...site, weight: weigh(site) })).toSorted((one, other) => other.weight - one.weight || one.name.localeCompare(other.name));
  return (
    <Table heads={["Site", "Probes", "Critical", "High", "Other alerts", "Devices online"]}>
      {rows.map(({ site_id: siteId, name, alerts: { critical, high, ...others }, probes, devices }) => (
        <tr key={siteId}>
          <td><Link to="/devices" search={{ site_id: siteId }}><Foreign text={name} longest={80} /></Link></td>
          <td><Probes {...probes} /></td>
          <td>{critical === 0 ? "–" : <Mark tone="critical">{critical}</Mark>}</td>
          <td>{high === 0 ? "–" : <Mark tone="bad">{high}</Mark>}</td>
          <td>{others.medium + others.low + others.info || "–"}</td>
          <td>{devices.total === 0 ? "–" : `${devices.online.toLocaleString("en")} of ${devices.total.toLocaleString("en")}`}</td>
        </tr>
      ))}
    </Table>
  );
}

function Probes({ total, online, silent }: SiteSummary["probes"]) {
  const enrolled = total - online - silent;
  if (total === 0) return "none yet";
  return (
    <>
      {silent > 0 && <Mark tone="warn">{silent} silent</Mark>}
      {online > 0 && <Mark tone="good">{online} online</Mark>}
      {enrolled > 0 && <Mark tone="calm">{enrolled} enrolled</Mark>}
    </>
  );
}

function weigh({ alerts, probes }: SiteSummary): number {
  return Severity.options.reduce((sum, name) => sum + WEIGHTS[name] * alerts[name], probes.silent > 0 ? SILENT_WEIGHT : 0);
}
