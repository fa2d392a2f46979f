import { type Changes, Severity, type SiteSummary } from "@lanthorn/contract";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Button } from "../parts/button.tsx";
import { SeverityCounts } from "../parts/mark.tsx";
import { Panel } from "../parts/page.tsx";
import { useSession } from "../session/use-session.ts";
import { useUpdatePreferences } from "../shell/kept-preferences.ts";
import { Answer } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import styles from "./overview-page.module.css";

/** Sites that are named of those where something changed. */
const NAMED = 3;

/** What changed since the person said last that it was seen, or within a day where that was never said. */
export function ChangesPanel({ siteId, sites }: { readonly siteId: string | undefined; readonly sites: readonly SiteSummary[] }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const changes = useQuery({ queryKey: ["changes", siteId], queryFn: () => rest.countChanges({ site_id: siteId }) });
  const see = useUpdatePreferences(() => queries.invalidateQueries({ queryKey: ["changes"] }));
  const until = changes.data?.until;
  return (
    <Panel
      title={<>What changed since {changes.data ? <Moment at={changes.data.since} exact /> : "you were here"}</>}
      actions={<Button disabled={until === undefined || see.isPending} onClick={() => until !== undefined && see.mutate({ last_seen: until })}>I have seen it</Button>}
    >
      {see.error !== null && <ErrorNote error={see.error} />}
      <Answer query={changes}>{(known) => <Counts of={known} sites={sites} />}</Answer>
    </Panel>
  );
}

function Counts({ of: { since, total, sites: changed }, sites }: { readonly of: Changes; readonly sites: readonly SiteSummary[] }) {
  const names = new Map(sites.map(({ site_id, name }) => [site_id, name]));
  const severities = Severity.options.map((name) => [name, total.alerts[name]] as const);
  const items = [
    total.devices.new > 0 && <Link key="new" to="/devices" search={{ found_since: since }}>{count(total.devices.new, "new device")}</Link>,
    total.devices.gone > 0 && <Link key="gone" to="/devices" search={{ presence_state: "offline" }}>{count(total.devices.gone, "device")} went offline</Link>,
    severities.some(([, number]) => number > 0) && (
      <span key="alerts" className={styles["marks"]}>
        <Link to="/alerts">New alerts</Link><SeverityCounts of={severities} />
      </span>
    ),
    total.alerts.resolved > 0 && <span key="resolved">{count(total.alerts.resolved, "alert")} resolved</span>,
    total.vulnerabilities > 0 && <Link key="cves" to="/vulnerabilities">{count(total.vulnerabilities, "vulnerability", "vulnerabilities")} found</Link>,
    total.configurations > 0 && <Link key="configurations" to="/configurations">{count(total.configurations, "configuration")} changed</Link>,
    total.silent_probes > 0 && <Link key="silent" to="/sites">{count(total.silent_probes, "probe")} fell silent</Link>,
  ].filter(Boolean);
  if (items.length === 0) return <p className={styles["soft"]}>Nothing.</p>;
  const most = changed.slice(0, NAMED).filter(({ site_id: id }) => names.has(id));
  return (
    <>
      <ul className={styles["changes"]}>{items.map((item, index) => <li key={index}>{item}</li>)}</ul>
      {names.size > 1 && most.length > 0 && (
        <p className={styles["soft"]}>{most.length === 1 ? "The site with the most serious changes: " : "The sites with the most serious changes: "}{most.map(({ site_id: id }, index) => <span key={id}>{index > 0 && ", "}<Link to="/" search={{ site_id: id }}><Foreign text={names.get(id) ?? ""} longest={60} /></Link></span>)}</p>
      )}
    </>
  );
}
