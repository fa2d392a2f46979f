import type { RestClient } from "@lanthorn/client";
import type { Scan, ScanHost } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Mark } from "../parts/mark.tsx";
import { Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { UNDERWAY_MS } from "../states/use-list.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { compareScans, type HostChange, portKey } from "./compare.ts";
import styles from "./scans-page.module.css";
import { isUnderway } from "./state.tsx";

/** More hosts are not laid side by side; the API has them all. */
const MAX_HOSTS = 5000;
const PAGE_SIZE = 1000;
/** Rows that are drawn at first, and with each step. */
const STEP = 200;
const TONES = { new: "warn", gone: "bad", changed: "warn", same: "calm", none: "calm" } as const;

/** Hosts of a scan, beside what the last scan of the same target found of them. */
export function ScanResults({ scan }: { readonly scan: Scan }) {
  const { rest } = useSession();
  const before = useQuery({ queryKey: ["scans", "before", scan.id], staleTime: Number.POSITIVE_INFINITY, refetchInterval: false, queryFn: () => lastBefore(rest, scan) });
  const hosts = useQuery({
    queryKey: ["scans", "hosts", scan.id, scan.status], refetchInterval: isUnderway(scan) ? UNDERWAY_MS : false, queryFn: () => hostsOf(rest, scan.id),
  });
  const known = useQuery({
    queryKey: ["scans", "hosts", before.data?.id], enabled: Boolean(before.data), refetchInterval: false, queryFn: () => hostsOf(rest, before.data?.id ?? ""),
  });
  // Hosts that were not asked yet are not gone.
  const rows = useMemo(() => {
    const all = compareScans(hosts.data ?? [], known.data ?? null);
    return isUnderway(scan) ? all.filter(({ change }) => change !== "gone") : all;
  }, [hosts.data, known.data, scan]);
  const [isOnlyNews, setOnlyNews] = useState(false);
  const [drawn, setDrawn] = useState(STEP);
  const shown = isOnlyNews ? rows.filter(({ change }) => change !== "same") : rows;
  return (
    <Panel title={<Heading before={before.data ?? null} rows={rows} />} isFlush actions={before.data && <label><input type="checkbox" checked={isOnlyNews} onChange={(event) => setOnlyNews(event.target.checked)} /> Only what differs</label>}>
      <Answer query={hosts}>
        {() => (shown.length === 0 ? (
          <Empty title={isOnlyNews ? "Nothing differs" : isUnderway(scan) ? "Nobody has answered yet" : "Nobody answered"}>
            {isOnlyNews ? "All hosts and open ports are as they were." : isUnderway(scan) ? "Hosts appear here as they answer." : "No host of the target is there, or none answers the probe."}
          </Empty>
        ) : (
          <>
            <Table heads={["Host", "Change", "Open ports", "Other ports"]}>{shown.slice(0, drawn).map((row) => <HostRow key={row.key} row={row} />)}</Table>
            {shown.length > drawn && <p className={styles["more"]}><Button onClick={() => setDrawn(drawn + STEP)}>Show more</Button></p>}
          </>
        ))}
      </Answer>
    </Panel>
  );
}

function Heading({ before, rows }: { readonly before: Scan | null; readonly rows: readonly HostChange[] }) {
  if (before === null) return <>Hosts and their ports</>;
  const count = (wanted: HostChange["change"]) => rows.filter(({ change }) => change === wanted).length;
  return <>Compared with <Link to="/scans/$scanId" params={{ scanId: before.id }}>the scan of <Moment at={before.created_at} /></Link>: {count("new")} new, {count("gone")} gone, {count("changed")} changed</>;
}

function HostRow({ row: { host, change, opened, closed } }: { readonly row: HostChange }) {
  const open = host.ports.filter(({ state }) => state === "open");
  return (
    <tr>
      <td>
        <span className={styles["host"]}>
          {host.device_id === null ? <strong>{host.ip}</strong> : <Link to="/devices/$deviceId" params={{ deviceId: host.device_id }}><strong><Foreign text={host.hostname || host.ip} longest={80} /></strong></Link>}
          <code>{[host.hostname === "" || host.device_id === null ? "" : host.ip, host.mac].filter(Boolean).join(" · ")}</code>
        </span>
      </td>
      <td>{change === "none" || change === "same" ? "–" : <Mark tone={TONES[change]}>{change}</Mark>}</td>
      <td>
        {open.length + closed.length === 0 ? "none" : <ul className={styles["ports"]}>
          {open.map((port) => <Port key={portKey(port)} port={port} change={change === "gone" ? "closed" : opened.has(portKey(port)) ? "opened" : undefined} />)}
          {closed.map((port) => <Port key={portKey(port)} port={port} change="closed" />)}
        </ul>}
      </td>
      <td className={styles["others"]}>{othersOf(host)}</td>
    </tr>
  );
}

function Port({ port, change }: { readonly port: ScanHost["ports"][number]; readonly change: "opened" | "closed" | undefined }) {
  return (
    <li className={styles["port"]} data-change={change}>
      <code>{port.protocol === "udp" ? portKey(port) : port.port}</code>{(port.version || port.service) !== "" && <Foreign text={port.version || port.service} longest={40} />}{change !== undefined && ` (${change})`}
    </li>
  );
}

function othersOf({ port_counts: counts }: ScanHost): string {
  const states = (["closed", "filtered", "open|filtered"] as const).map((state) => [(counts?.tcp[state] ?? 0) + (counts?.udp[state] ?? 0), state] as const);
  return states.filter(([count]) => count > 0).map(([count, state]) => `${count.toLocaleString("en")} ${state}`).join(", ") || "–";
}

/** The scan of the same target that was completed last before this one; with the same profile, so that ports compare. */
async function lastBefore(rest: RestClient, { id, site_id, profile, target, created_at: until }: Scan): Promise<Scan | null> {
  const { data } = await rest.listScans({ site_id, profile, status: "completed", until, per_page: 200 });
  return data.find((scan) => scan.target === target && scan.id !== id) ?? null;
}

async function hostsOf(rest: RestClient, scanId: string): Promise<readonly ScanHost[]> {
  const all: ScanHost[] = [];
  for (let cursor: string | null | undefined; cursor !== null && all.length < MAX_HOSTS;) {
    const page = await rest.listScanResults(scanId, { per_page: PAGE_SIZE, cursor });
    all.push(...page.data);
    cursor = page.meta.next_cursor;
  }
  return all;
}
