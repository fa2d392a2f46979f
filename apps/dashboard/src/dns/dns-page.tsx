import type { DnsStats } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Choose } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer, Empty, Nothing } from "../states/answer.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { percent } from "../texts/percent.ts";
import { AllowButton } from "./allow-button.tsx";
import { DnsCheckForm } from "./check.tsx";
import { DnsHours } from "./hours.tsx";
import { DnsPauses } from "./pauses.tsx";
import styles from "../sensors/sensors.module.css";
import { SensorTabs } from "../sensors/tabs.tsx";
import { Tiles } from "../sensors/tiles.tsx";

const route = getRouteApi("/sensors/dns");
const PERIODS = { "1h": "The last hour", "": "The last day", "7d": "The last week" };

/** What the sites' resolvers were asked, what was blocked, and what is done with a name. */
export function DnsPage() {
  const { rest } = useSession();
  const { site_id, since } = route.useSearch();
  const navigate = route.useNavigate();
  const stats = useQuery({ queryKey: ["dns", "stats", site_id, since], queryFn: () => rest.readDnsStats({ site_id, since }) });
  return (
    <Page
      title="DNS" note="What the sites' resolvers were asked, and what they blocked."
      actions={<><span className={filters["filters"]}><Choose label="Period" value={since} options={PERIODS} onChange={(value) => void navigate({ search: (before) => ({ ...before, since: value || undefined }), replace: true })} /></span><DnsPauses siteId={site_id} /></>}
    >
      <SensorTabs />
      <Answer query={stats}>{(known) => <Stats stats={known} />}</Answer>
      <Panel title="Check a name"><DnsCheckForm /></Panel>
    </Page>
  );
}

function Stats({ stats }: { readonly stats: DnsStats }) {
  if (stats.queries === 0) return <Panel title="Queries"><Empty title="No DNS queries yet">A probe's machine answers DNS when it runs <code>lanthorn-dns</code> and the site's clients ask it.</Empty></Panel>;
  const share = (count: number) => `${percent(count / stats.queries, 1)} of all`;
  return (
    <>
      <Tiles of={[["Queries", stats.queries], ["Blocked", stats.blocked, share(stats.blocked)], ["Observed", stats.observed, share(stats.observed)], ["From the cache", stats.from_cache, share(stats.from_cache)], ["Failed", stats.failed, share(stats.failed)]]} />
      <Panel title="By hour"><DnsHours hours={stats.hours} /></Panel>
      {stats.is_partial && <p className={styles["warning"]}>There is too much to count all of it: names, clients and lists are of the newest.</p>}
      <div className={styles["two"]}>
        <Top title="Names blocked most" rows={stats.top_blocked.map(({ name, times }) => ({ key: name, times, text: <Name name={name} />, action: <AllowButton name={name} /> }))} />
        <Top title="Names asked for most" rows={stats.top_names.map(({ name, times }) => ({ key: name, times, text: <Name name={name} /> }))} />
        <Top title="Clients that ask most" rows={stats.top_clients.map(({ site_id, client_ip: ip, device_id: id, times, blocked }) => ({
          key: `${site_id} ${ip}`, times, text: <>{id === null ? ip : <Link to="/devices/$deviceId" params={{ deviceId: id }}>{ip}</Link>}{blocked > 0 && <span className={styles["beside"]}>{blocked.toLocaleString("en")} blocked</span>}</>,
        }))} />
        <Top title="Lists that decide most" rows={stats.lists.map(({ list, times }) => ({ key: list, times, text: <Foreign text={list} longest={80} /> }))} />
      </div>
    </>
  );
}

function Name({ name }: { readonly name: string }) {
  return <Link to="/sensors/dns/queries" search={{ name }}><Foreign text={name} longest={100} /></Link>;
}

interface TopRow {
  readonly key: string;
  readonly text: ReactNode;
  readonly times: number;
  readonly action?: ReactNode;
}

function Top({ title, rows }: { readonly title: string; readonly rows: readonly TopRow[] }) {
  const most = Math.max(1, ...rows.map(({ times }) => times));
  const hasActions = rows.some(({ action }) => action !== undefined);
  return (
    <Panel title={title} isFlush>
      {rows.length === 0 ? <Nothing>Nothing is reported.</Nothing> : (
        <Table heads={["What", "Times", "Share", hasActions && "Action"]} isSmall={!hasActions}>
          {rows.map(({ key, text, times, action }) => (
            <tr key={key}><td className={styles["name"]}>{text}</td><td>{times.toLocaleString("en")}</td><td><meter className={styles["share"]} min={0} max={most} value={times} aria-label="Beside the most" /></td>{hasActions && <td>{action}</td>}</tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}
