import { SCAN_PROFILES, type Scan } from "@lanthorn/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Choose, choicesOf } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { Icon } from "../parts/icon.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { useCursorList } from "../states/use-list.ts";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { ScanDialog } from "./scan-dialog.tsx";
import styles from "./scans-page.module.css";
import { durationOf, isUnderway, ScanState } from "./state.tsx";

const route = getRouteApi("/scans");
const PAGE_SIZE = 50;
const STATES = choicesOf(["queued", "running", "completed", "failed", "cancelled"], "Any state");

/** Scans that people have started, the newest first, and how far each is. */
export function ScansPage() {
  const { rest } = useSession();
  const { page: _page, per_page: _perPage, cursor: _cursor, ...filter } = route.useSearch();
  const mayStart = useMay("scans:write");
  const [isStarting, setStarting] = useState(false);
  const scans = useCursorList({
    queryKey: ["scans", "list", filter], read: (cursor) => rest.listScans({ ...filter, per_page: PAGE_SIZE, cursor }), isUnderway,
  });
  useCommands(useMemo((): readonly Command[] => (mayStart ? [
    { id: "start scan", title: "Start a scan", group: "This page", keys: "n", run: () => setStarting(true) },
  ] : []), [mayStart]));
  const isFiltered = Object.keys(filter).some((name) => name !== "site_id");
  return (
    <Page
      title="Scans" note="Scans that people started. Probes also look for hosts by themselves."
      actions={mayStart && <Button kind="primary" onClick={() => setStarting(true)}><Icon name="plus" />Start a scan</Button>}
    >
      {isStarting && <ScanDialog onClose={() => setStarting(false)} />}
      <Filters />
      <Panel title={scans.data ? count(scans.data.total, "scan") : "Scans"} isFlush>
        <Answer query={scans}>
          {({ list, total }) => (total === 0 ? (
            <Empty title={isFiltered ? "The filter leaves nothing" : "No scan yet"}>{isFiltered ? "No scan is like this." : "Start one to see which ports are open and what answers there."}</Empty>
          ) : (
            <>
              <ScansTable scans={list} />
              {scans.hasNextPage && <p className={styles["more"]}><Button onClick={() => void scans.fetchNextPage()} disabled={scans.isFetchingNextPage}>Show more</Button></p>}
            </>
          ))}
        </Answer>
      </Panel>
    </Page>
  );
}

function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (name: "status" | "profile", value: string) => void navigate({ search: (before) => ({ ...before, [name]: value === "" ? undefined : value }), replace: true });
  return (
    <div className={filters["filters"]} role="search">
      <Choose label="State" value={search.status} options={STATES} onChange={(value) => set("status", value)} />
      <Choose label="Profile" value={search.profile} options={choicesOf(Object.keys(SCAN_PROFILES), "Any profile")} onChange={(value) => set("profile", value)} />
    </div>
  );
}

function ScansTable({ scans }: { readonly scans: readonly Scan[] }) {
  return (
    <Table heads={["Target", "Profile", "State", "Answered", "Open ports", "Took", "Started"]}>
      {scans.map((scan) => (
        <tr key={scan.id}>
          <td><Link to="/scans/$scanId" params={{ scanId: scan.id }}><code><Foreign text={scan.target} longest={64} /></code></Link></td>
          <td>{scan.profile}</td>
          <td><ScanState scan={scan} />{scan.error !== null && <p className={styles["fault"]}><Foreign text={scan.error} /></p>}</td>
          <td>{scan.hosts_up.toLocaleString("en")} of {scan.hosts_total.toLocaleString("en")}</td>
          <td>{scan.ports_open.toLocaleString("en")}</td>
          <td>{durationOf(scan) || "–"}</td>
          <td><Moment at={scan.created_at} /> by <Foreign text={scan.requested_by} longest={60} /></td>
        </tr>
      ))}
    </Table>
  );
}
