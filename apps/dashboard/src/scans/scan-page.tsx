import type { Scan } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Facts } from "../fields/facts.tsx";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { Answer } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { UNDERWAY_MS } from "../states/use-list.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { AtSite } from "../texts/zone.tsx";
import { ScanDialog } from "./scan-dialog.tsx";
import { ScanResults } from "./scan-results.tsx";
import styles from "./scans-page.module.css";
import { durationOf, isUnderway, ScanState } from "./state.tsx";

const route = getRouteApi("/scans/$scanId");

/** One scan: how far it is, who answers, and what differs from the last. */
export function ScanPage() {
  const { rest } = useSession();
  const { scanId } = route.useParams();
  const scan = useQuery({
    queryKey: ["scans", "one", scanId], queryFn: () => rest.readScan(scanId),
    refetchInterval: ({ state }) => (state.data && !isUnderway(state.data) ? false : UNDERWAY_MS),
  });
  return (
    <Page title={scan.data ? `Scan of ${scan.data.target}` : "Scan"} trail={<Link to="/scans">All scans</Link>} actions={scan.data && <Actions scan={scan.data} />}>
      <Answer query={scan}>{(known) => <AtSite siteId={known.site_id}><HowItIs scan={known} /><ScanResults key={known.id} scan={known} /></AtSite>}</Answer>
    </Page>
  );
}

function HowItIs({ scan }: { readonly scan: Scan }) {
  const site = useSites().data?.data.find(({ id }) => id === scan.site_id)?.name;
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ["State", <ScanState key="state" scan={scan} />],
    ["Answered", `${scan.hosts_up.toLocaleString("en")} of ${scan.hosts_total.toLocaleString("en")} addresses`],
    ["Open ports", scan.ports_open.toLocaleString("en")],
    ["Profile", scan.profile],
    ["Site", site === undefined ? "–" : <Foreign key="site" text={site} longest={80} />],
    ["Started", <span key="started"><Moment at={scan.created_at} exact /> by <Foreign text={scan.requested_by} longest={60} /></span>],
    ["Took", durationOf(scan) || "–"],
  ];
  return (
    <Panel title="Summary">
      <Facts of={facts} />
      {scan.error !== null && <p className={styles["fault"]}><Foreign text={scan.error} longest={500} /></p>}
      {scan.remarks.length > 0 && <ul className={styles["remarks"]}>{scan.remarks.map(({ code, ip, message }) => <li key={`${code} ${ip}`}><Foreign text={message} longest={300} /></li>)}</ul>}
    </Panel>
  );
}

function Actions({ scan }: { readonly scan: Scan }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const mayStart = useMay("scans:write");
  const [isStarting, setStarting] = useState(false);
  const cancel = useMutation({ mutationFn: () => rest.cancelScan(scan.id), onSuccess: () => queries.invalidateQueries({ queryKey: ["scans"] }) });
  useCommands(useMemo((): readonly Command[] => (mayStart ? [
    { id: "scan again", title: "Scan the same target again", group: "This page", keys: "n", run: () => setStarting(true) },
  ] : []), [mayStart]));
  if (!mayStart) return null;
  return (
    <>
      {isUnderway(scan) && <Button kind="danger" onClick={() => cancel.mutate()} disabled={cancel.isPending}>Cancel the scan</Button>}
      <Button onClick={() => setStarting(true)}>Scan again</Button>
      {cancel.isError && <ErrorNote error={cancel.error} />}
      {isStarting && <ScanDialog given={scan.target} onClose={() => setStarting(false)} />}
    </>
  );
}
