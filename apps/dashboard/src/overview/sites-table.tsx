import type { Alert, Probe, Severity, Site } from "@lanthorn/contract";
import { Link } from "@tanstack/react-router";
import { Foreign } from "../texts/foreign.tsx";
import { Mark, type Tone } from "../parts/mark.tsx";
import { Moment } from "../texts/moment.tsx";

const WEIGHTS: Readonly<Record<Severity, number>> = { critical: 1_000_000, high: 10_000, medium: 100, low: 1, info: 0 };
/** A site that nobody sees may have any trouble. */
const SILENT_WEIGHT = 100_000;
const PROBE_TONES: Readonly<Record<Probe["state"], Tone>> = { online: "good", enrolled: "calm", silent: "warn", revoked: "calm" };

/** Sites with their probes and open alerts; whoever has the worst ones is first. */
export function SitesTable({ sites, probes, alerts }: {
  readonly sites: readonly Site[]; readonly probes: readonly Probe[]; readonly alerts: readonly Alert[];
}) {
  const rows = sites.map((site) => {
    const own = probes.filter(({ site_id, state }) => site_id === site.id && state !== "revoked");
    const open = alerts.filter(({ site_id }) => site_id === site.id);
    const count = (...severities: readonly Severity[]) => open.filter(({ severity }) => severities.includes(severity)).length;
    const weight = open.reduce((sum, { severity }) => sum + WEIGHTS[severity], own.some(({ state }) => state === "silent") ? SILENT_WEIGHT : 0);
    return { site, own, weight, counts: [count("critical"), count("high"), count("medium", "low", "info")] as const };
  }).toSorted((one, other) => other.weight - one.weight || one.site.name.localeCompare(other.site.name));
  return (
    <table>
      <thead><tr><th scope="col">Site</th><th scope="col">Probes</th><th scope="col">Critical</th><th scope="col">High</th><th scope="col">Other alerts</th><th scope="col">Last heard</th></tr></thead>
      <tbody>
        {rows.map(({ site, own, counts }) => (
          <tr key={site.id}>
            <td><Link to="/devices" search={{ site_id: site.id }}><Foreign text={site.name} longest={80} /></Link></td>
            <td>{own.length === 0 ? "none yet" : own.map(({ id, state }) => <Mark key={id} tone={PROBE_TONES[state]}>{state}</Mark>)}</td>
            <td>{counts[0] === 0 ? "–" : <Mark tone="critical">{counts[0]}</Mark>}</td>
            <td>{counts[1] === 0 ? "–" : <Mark tone="bad">{counts[1]}</Mark>}</td>
            <td>{counts[2] === 0 ? "–" : counts[2]}</td>
            <td>{own.length === 0 ? "–" : <Moment at={own.map(({ last_heard_at }) => last_heard_at ?? "").toSorted().at(-1) || null} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
