import { ANOMALY_KINDS, type AnomalyRow } from "@lanthorn/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Choose, choicesOf } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { Button } from "../parts/button.tsx";
import { Mark, SeverityMark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import styles from "../sensors/sensors.module.css";
import { SensorTabs } from "../sensors/tabs.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { useCursorList } from "../states/use-list.ts";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { words } from "../texts/words.ts";
import { Models, useModels } from "./models.tsx";
import { NormalThings } from "./normal-things.tsx";

const route = getRouteApi("/sensors/anomalies");
const PAGE_SIZE = 50;
const NORMAL = { "": "Normal or not", false: "Not said to be normal", true: "Said to be normal" };
const ALERTS = { "": "With or without an alert", true: "Raised an alert", false: "Raised none" };

/** What devices did that is not usual for them, the newest first. */
export function AnomaliesPage() {
  const { rest } = useSession();
  const navigate = route.useNavigate();
  const { page: _page, per_page: _perPage, cursor: _cursor, ...filter } = route.useSearch();
  const anomalies = useCursorList({
    queryKey: ["anomalies", "list", filter], read: (cursor) => rest.listAnomalies({ ...filter, per_page: PAGE_SIZE, cursor }),
  });
  const set = (name: "kind" | "is_normal" | "is_alert", value: string) => void navigate({ search: (before) => ({ ...before, [name]: value === "" ? undefined : value }), replace: true });
  const isFiltered = Object.keys(filter).some((name) => name !== "site_id");
  return (
    <Page title="Anomalies" note={<Watched siteId={filter.site_id} />}>
      <SensorTabs />
      <div className={filters["filters"]} role="search">
        <Choose label="Kind" value={filter.kind} options={choicesOf(ANOMALY_KINDS, "Any kind")} onChange={(value) => set("kind", value)} />
        <Choose label="Alert" value={filter.is_alert} options={ALERTS} onChange={(value) => set("is_alert", value)} />
        <Choose label="Normal" value={filter.is_normal} options={NORMAL} onChange={(value) => set("is_normal", value)} />
        {filter.device_id !== undefined && <Link to="/sensors/anomalies" search={(before) => ({ ...before, device_id: undefined })}>Of one device: show all</Link>}
      </div>
      <Panel title={anomalies.data ? count(anomalies.data.total, "anomaly", "anomalies") : "Anomalies"} isFlush>
        <Answer query={anomalies}>
          {({ list, total }) => (total === 0 ? (
            <Empty title={isFiltered ? "The filter leaves nothing" : "Nothing unusual"}>{isFiltered ? "No anomaly is like this." : "Probes that read traffic learn what is usual for each device, and report here what is not."}</Empty>
          ) : (
            <>
              <Table heads={["What", "Severity", "Device", "Explanation", "Found"]}>{list.map((anomaly) => <AnomalyLine key={anomaly.id} anomaly={anomaly} />)}</Table>
              {anomalies.hasNextPage && <p className={styles["more"]}><Button onClick={() => void anomalies.fetchNextPage()} disabled={anomalies.isFetchingNextPage}>Show more</Button></p>}
            </>
          ))}
        </Answer>
      </Panel>
      <Models siteId={filter.site_id} />
      <NormalThings siteId={filter.site_id} />
    </Page>
  );
}

function AnomalyLine({ anomaly }: { readonly anomaly: AnomalyRow }) {
  return (
    <tr>
      <td><Link to="/sensors/anomalies/$anomalyId" params={{ anomalyId: anomaly.id }}>{words(anomaly.kind)}</Link>{anomaly.is_normal && <span className={styles["beside"]}><Mark tone="good">normal</Mark></span>}</td>
      <td><SeverityMark severity={anomaly.severity} /></td>
      <td><DeviceOf anomaly={anomaly} /></td>
      <td className={styles["name"]}><Foreign text={anomaly.explanation} longest={240} /></td>
      <td><Moment at={anomaly.found_at} /></td>
    </tr>
  );
}

/** The device that did something unusual. */
export function DeviceOf({ anomaly: { device_id: id, device, ip } }: { readonly anomaly: AnomalyRow }) {
  const text = <Foreign text={ip || device} longest={64} />;
  return id === null ? text : <Link to="/devices/$deviceId" params={{ deviceId: id }}>{text}</Link>;
}

function Watched({ siteId }: { readonly siteId: string | undefined }) {
  const own = useModels(siteId).data?.flatMap(({ state }) => (state === null ? [] : [state])) ?? [];
  if (own.length === 0) return <>What devices do that is not usual for them. No probe watches it now.</>;
  const sum = (field: "active" | "learning") => own.reduce((all, state) => all + state[field], 0).toLocaleString("en");
  return <>{sum("active")} devices are compared with what is usual for them, {sum("learning")} are learned.</>;
}
