import type { AlertSource } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Mark, SeverityMark } from "../parts/mark.tsx";
import { Panel } from "../parts/page.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import styles from "./sensors.module.css";

const SHOWN = 10;

/** The newest alerts of a sensor, resolved ones too. */
export function AlertList({ source, siteId, title, nothing }: {
  readonly source: AlertSource; readonly siteId: string | undefined; readonly title: string; readonly nothing: string;
}) {
  const { rest } = useSession();
  const alerts = useQuery({ queryKey: ["alerts", "of", source, siteId], queryFn: () => rest.listAlerts({ source, site_id: siteId, per_page: SHOWN }) });
  return (
    <Panel title={title} isFlush actions={<Link to="/alerts" search={{ source, status: "open,acknowledged,resolved" }}>All such alerts</Link>}>
      <Answer query={alerts}>
        {({ data }) => (data.length === 0 ? <Empty title="Nothing was found">{nothing}</Empty> : (
          <ul className={styles["alerts"]}>
            {data.map((alert) => (
              <li key={alert.id}>
                <SeverityMark severity={alert.severity} />
                {alert.status !== "open" && <Mark tone={alert.status === "resolved" ? "good" : "calm"}>{alert.status}</Mark>}
                <Link to="/alerts/$alertId" params={{ alertId: alert.id }}><Foreign text={alert.title} /></Link>
                <span>{alert.count > 1 && `${alert.count.toLocaleString("en")} × `}<Moment at={alert.last_seen} /></span>
              </li>
            ))}
          </ul>
        ))}
      </Answer>
    </Panel>
  );
}
