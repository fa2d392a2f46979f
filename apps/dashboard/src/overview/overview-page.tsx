import type { Alert, Probe } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { Answer, Empty } from "../states/answer.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { SeverityMark } from "../parts/mark.tsx";
import { Moment } from "../texts/moment.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import styles from "./overview-page.module.css";
import { SitesTable } from "./sites-table.tsx";
import { Tiles } from "./tiles.tsx";

/** As many as a page of the API has at most; what is beyond is counted, not listed. */
const MAX_ALERTS = 500;
const SHOWN = 8;

/** What needs somebody now: the worst alerts and sites first, silent probes in a line each, and what is new. */
export function OverviewPage() {
  const { rest } = useSession();
  const siteId = useSearch({ strict: false, select: ({ site_id }) => site_id });
  const alerts = useQuery({
    queryKey: ["alerts", "overview", siteId],
    queryFn: () => rest.listAlerts({ status: "open", sort: "-severity", per_page: MAX_ALERTS, site_id: siteId }),
  });
  const probes = useQuery({ queryKey: ["probes"], queryFn: () => rest.listProbes({ per_page: 1000 }) });
  const sites = useSites();
  const silent = probes.data?.data.filter(({ state, site_id }) => state === "silent" && (siteId === undefined || site_id === siteId)) ?? [];
  return (
    <Page title="Overview">
      {silent.map((probe) => <SilentProbe key={probe.id} probe={probe} site={sites.data?.data.find(({ id }) => id === probe.site_id)?.name ?? ""} />)}
      <Tiles siteId={siteId} alerts={alerts.data} probes={probes.data?.data} />
      <div className={styles["columns"]}>
        <div className={styles["column"]}>
          <Panel title="Most urgent" isFlush>
            <Answer query={alerts}>
              {({ data }) => (data.length === 0 ? <Empty title="No open alerts">Nothing needs you now.</Empty> : <Urgent alerts={data.slice(0, SHOWN)} />)}
            </Answer>
          </Panel>
          <Panel title="Sites, the worst first" isFlush>
            <Answer query={sites}>
              {({ data }) => (
                <SitesTable sites={data.filter(({ id }) => siteId === undefined || id === siteId)} probes={probes.data?.data ?? []} alerts={alerts.data?.data ?? []} />
              )}
            </Answer>
          </Panel>
        </div>
        <Panel title="Found in the last 24 hours" isFlush><NewDevices siteId={siteId} /></Panel>
      </div>
    </Page>
  );
}

function SilentProbe({ probe, site }: { readonly probe: Probe; readonly site: string }) {
  return (
    <p className={styles["silent"]} role="status">
      <strong>Probe <Foreign text={probe.name} /></strong> at <Foreign text={site} /> is silent since <Moment at={probe.last_heard_at} exact />. Its devices are unknown until it
      is back: look at its power, its network and <code>systemctl status lanthorn-probe</code>.
    </p>
  );
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
