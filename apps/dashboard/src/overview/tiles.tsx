import { type Alert, type List, type Probe, Severity } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Mark } from "../parts/mark.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import styles from "./tiles.module.css";

/** The four numbers that say how things are. */
export function Tiles({ siteId, alerts, probes }: {
  readonly siteId: string | undefined; readonly alerts: List<Alert> | undefined; readonly probes: readonly Probe[] | undefined;
}) {
  const { rest } = useSession();
  const counts = useQuery({
    queryKey: ["devices", "counts", siteId],
    async queryFn() {
      const [all, online] = await Promise.all([
        rest.listDevices({ per_page: 1, site_id: siteId }), rest.listDevices({ per_page: 1, site_id: siteId, presence_state: "online" }),
      ]);
      return { all: all.meta.total, online: online.meta.total };
    },
  });
  const cves = useQuery({ queryKey: ["cve", "stats", siteId], queryFn: () => rest.readCveStats({ site_id: siteId }), enabled: useMay("cve:read") });
  const own = probes?.filter(({ state, site_id }) => state !== "revoked" && (siteId === undefined || site_id === siteId));
  const urgent = alerts?.data.filter(({ severity }) => severity === "critical" || severity === "high").length ?? 0;
  return (
    <div className={styles["tiles"]}>
      <Tile label="Devices online" value={counts.data?.online} note={counts.data && `of ${format(counts.data.all)} known`} link={<Link to="/devices">All devices</Link>} />
      <Tile
        label="Open alerts" value={alerts?.meta.total} isBad={urgent > 0} link={<Link to="/alerts">All alerts</Link>}
        note={alerts && <Severities of={Severity.options.map((name) => [name, alerts.data.filter(({ severity }) => severity === name).length])} />}
      />
      <Tile
        label="Probes online" value={own?.filter(({ state }) => state === "online").length}
        note={own && `of ${own.length}`} link={<Link to="/sites">All probes</Link>} isBad={own?.some(({ state }) => state === "silent") ?? false}
      />
      <Tile
        label="Vulnerabilities" value={cves.data?.total_matched} isBad={(cves.data?.by_severity.critical ?? 0) > 0}
        note={cves.data && <Severities of={(["critical", "high", "medium", "low"] as const).map((name) => [name, cves.data.by_severity[name]])} />}
      />
    </div>
  );
}

const TONES = { critical: "critical", high: "bad", medium: "warn", low: "calm", info: "calm" } as const;

function Severities({ of }: { readonly of: readonly (readonly [keyof typeof TONES, number])[] }) {
  const some = of.filter(([, count]) => count > 0);
  return some.length === 0 ? <>none</> : <>{some.map(([name, count]) => <Mark key={name} tone={TONES[name]}>{format(count)} {name}</Mark>)}</>;
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
