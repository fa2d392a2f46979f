import { type CveSeverity, Severity, type SiteSummary } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { SeverityCounts } from "../parts/mark.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import styles from "./tiles.module.css";

/** The four numbers that say how things are. @param props.sites Undefined until they are known. */
export function Tiles({ siteId, sites }: { readonly siteId: string | undefined; readonly sites: readonly SiteSummary[] | undefined }) {
  const { rest } = useSession();
  const cves = useQuery({ queryKey: ["cve", "stats", siteId], queryFn: () => rest.readCveStats({ site_id: siteId }), enabled: useMay("cve:read") });
  const sum = (count: (site: SiteSummary) => number) => sites?.reduce((total, site) => total + count(site), 0);
  const severities = Severity.options.map((name) => [name, sum(({ alerts }) => alerts[name]) ?? 0] as const);
  return (
    <div className={styles["tiles"]}>
      <Tile
        label="Devices online" value={sum(({ devices }) => devices.online)} note={sites && `of ${format(sum(({ devices }) => devices.total) ?? 0)} known`}
        link={<Link to="/devices">All devices</Link>}
      />
      <Tile
        label="Open alerts" value={sites && severities.reduce((total, [, count]) => total + count, 0)} isBad={severities.some(([name, count]) => count > 0 && (name === "critical" || name === "high"))}
        link={<Link to="/alerts">All alerts</Link>} note={sites && <Severities of={severities} />}
      />
      <Tile
        label="Probes online" value={sum(({ probes }) => probes.online)} note={sites && `of ${format(sum(({ probes }) => probes.total) ?? 0)}`}
        link={<Link to="/sites">All probes</Link>} isBad={sites?.some(({ probes }) => probes.silent > 0) ?? false}
      />
      <Tile
        label="Vulnerabilities" value={cves.data?.total_matched} isBad={(cves.data?.by_severity.critical ?? 0) > 0} link={<Link to="/vulnerabilities">All CVEs</Link>}
        note={cves.data && <Severities of={(["critical", "high", "medium", "low"] as const).map((name) => [name, cves.data.by_severity[name]])} />}
      />
    </div>
  );
}

function Severities({ of }: { readonly of: readonly (readonly [Severity | CveSeverity, number])[] }) {
  return of.some(([, number]) => number > 0) ? <SeverityCounts of={of} /> : "none";
}

function Tile({ label, value, note, isBad = false, link }: {
  readonly label: string; readonly value: number | undefined; readonly note: ReactNode; readonly isBad?: boolean; readonly link?: ReactNode;
}) {
  return (
    <section className={styles["tile"]} data-bad={isBad}>
      <h2>{label}</h2>
      <p className={styles["value"]}>{value === undefined ? "–" : format(value)}</p>
      <p className={styles["note"]}>{note}{link !== undefined && <span className={styles["link"]}>{link}</span>}</p>
    </section>
  );
}

function format(value: number): string {
  return value.toLocaleString("en");
}
