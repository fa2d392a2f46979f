import type { Alert, SiteSummary } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { Answer, Empty } from "../states/answer.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { SeverityMark } from "../parts/mark.tsx";
import { Moment } from "../texts/moment.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { useSession } from "../session/use-session.ts";
import { ChangesPanel } from "./changes.tsx";
import styles from "./overview-page.module.css";
import { SitesTable } from "./sites-table.tsx";
import { Tiles } from "./tiles.tsx";

const SHOWN = 8;

/** What needs somebody now: the worst alerts and sites first, silent probes in a line each, and what is new. */
export function OverviewPage() {
  const { rest } = useSession();
  const siteId = useSearch({ strict: false, select: ({ site_id }) => site_id });
  const alerts = useQuery({
    queryKey: ["alerts", "overview", siteId],
    queryFn: () => rest.listAlerts({ status: "open", sort: "-severity", per_page: SHOWN, site_id: siteId }),
  });
  const sites = useQuery({
    queryKey: ["sites", "summaries", siteId],
    queryFn: async () => (siteId === undefined ? (await rest.listSiteSummaries({ per_page: 1000 })).data : [await rest.readSiteSummary(siteId)]),
  });
  return (
    <Page title="Overview">
      {sites.data?.some(({ probes }) => probes.silent > 0) && <SilentProbes sites={sites.data} />}
      <Tiles siteId={siteId} sites={sites.data} />
      <ChangesPanel siteId={siteId} sites={sites.data ?? []} />
      <div className={styles["columns"]}>
        <div className={styles["column"]}>
          <Panel title="Most urgent" isFlush>
            <Answer query={alerts}>
              {({ data }) => (data.length === 0 ? <Empty title="No open alerts">Nothing needs you now.</Empty> : <Urgent alerts={data} />)}
            </Answer>
          </Panel>
          <Panel title="Sites, the worst first" isFlush>
            <Answer query={sites}>{(data) => <SitesTable sites={data} />}</Answer>
          </Panel>
        </div>
        <Panel title="Found in the last 24 hours" isFlush><NewDevices siteId={siteId} /></Panel>
      </div>
    </Page>
  );
}

/** A line for each: nothing that its site shows is of now. */
function SilentProbes({ sites }: { readonly sites: readonly SiteSummary[] }) {
  const { rest } = useSession();
  const probes = useQuery({ queryKey: ["probes"], queryFn: () => rest.listProbes({ per_page: 1000 }) });
  const names = new Map(sites.map(({ site_id, name }) => [site_id, name]));
  return probes.data?.data.filter(({ state, site_id }) => state === "silent" && names.has(site_id)).map((probe) => (
    <p key={probe.id} className={styles["silent"]} role="status">
      <strong>Probe <Foreign text={probe.name} /></strong> at <Foreign text={names.get(probe.site_id) ?? ""} /> is silent since <Moment at={probe.last_heard_at} exact />. Its devices are
      unknown until it is back: look at its power, its network and <code>systemctl status lanthorn-probe</code>.
    </p>
  ));
}

function Urgent({ alerts }: { readonly alerts: readonly Alert[] }) {
  return (
    <ul className={styles["list"]}>
      {alerts.map((alert) => (
        <li key={alert.id}>
          <SeverityMark severity={alert.severity} />
          <div>
            <p className={styles["title"]}><Link to="/alerts/$alertId" params={{ alertId: alert.id }}><Foreign text={alert.title} /></Link></p>
            <p className={styles["soft"]}>
              {alert.device_id !== null && alert.device_ip !== "" && (
                <><Link to="/devices/$deviceId" params={{ deviceId: alert.device_id }}><code>{alert.device_ip}</code></Link> · </>
              )}
              {alert.count > 1 && `${alert.count} times · `}<Moment at={alert.last_seen} />
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}

function NewDevices({ siteId }: { readonly siteId: string | undefined }) {
  const { rest } = useSession();
  const found = useQuery({
    queryKey: ["events", "discovered", siteId],
    queryFn: () => rest.listEvents({ types: "device.discovered", since: "24h", per_page: 1000, site_id: siteId }),
  });
  return (
    <Answer query={found}>
      {({ data, meta }) => (data.length === 0 ? <Empty title="Nothing new">No device was seen for the first time.</Empty> : (
        <>
          <ul className={styles["list"]}>
            {data.toReversed().slice(0, SHOWN).map((event) => {
              const [name, ip] = [textOf(event.data["hostname"]), textOf(event.data["ip"])];
              const text = <Foreign text={name || ip || textOf(event.data["mac"])} longest={60} />;
              return (
                <li key={event.id}>
                  <div>
                    <p className={styles["title"]}>
                      {event.device_id === null ? text : <Link to="/devices/$deviceId" params={{ deviceId: event.device_id }}>{text}</Link>}
                    </p>
                    <p className={styles["soft"]}>{name !== "" && <code>{ip}</code>} <Foreign text={textOf(event.data["vendor"])} longest={60} /></p>
                  </div>
                  <span className={styles["when"]}><Moment at={event.timestamp} /></span>
                </li>
              );
            })}
          </ul>
          {data.length > SHOWN && <p className={styles["more"]}>{data.length - SHOWN}{meta.next_cursor === null ? "" : " or more"} others were found as well.</p>}
        </>
      ))}
    </Answer>
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
