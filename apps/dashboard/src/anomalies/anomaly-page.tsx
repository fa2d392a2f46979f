import type { AnomalyDetails } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { Facts } from "../fields/facts.tsx";
import { Button } from "../parts/button.tsx";
import { Mark, SeverityMark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { formatMeasure } from "../sensors/measure.ts";
import styles from "../sensors/sensors.module.css";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Nothing } from "../states/answer.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { percent } from "../texts/percent.ts";
import { kindName, words } from "../texts/words.ts";
import { AtSite } from "../texts/zone.tsx";
import { DeviceOf } from "./anomalies-page.tsx";
import { NormalDialog } from "./normal-dialog.tsx";
import { Series } from "./series.tsx";

const route = getRouteApi("/sensors/anomalies/$anomalyId");

/** One anomaly: what was measured, what is usual, and what else happened at that time. */
export function AnomalyPage() {
  const { rest } = useSession();
  const { anomalyId } = route.useParams();
  const mayWrite = useMay("sensors:write");
  const [isSaying, setSaying] = useState(false);
  const anomaly = useQuery({ queryKey: ["anomalies", "one", anomalyId], queryFn: () => rest.readAnomaly(anomalyId) });
  return (
    <Page
      title="Anomaly" trail={<Link to="/sensors/anomalies">All anomalies</Link>}
      actions={mayWrite && anomaly.data && !anomaly.data.is_normal && <Button kind="primary" onClick={() => setSaying(true)}>This is normal…</Button>}
    >
      {isSaying && anomaly.data && <NormalDialog anomaly={anomaly.data} onClose={() => setSaying(false)} />}
      <Answer query={anomaly}>{(known) => <AtSite siteId={known.site_id}><Details anomaly={known} /></AtSite>}</Answer>
    </Page>
  );
}

function Details({ anomaly }: { readonly anomaly: AnomalyDetails }) {
  return (
    <>
      <Panel title={words(anomaly.kind)}>
        <p className={styles["text"]}><Foreign text={anomaly.explanation} longest={1024} /></p>
        <Facts
          of={[
            ["Severity", <SeverityMark key="severity" severity={anomaly.severity} />], ["Device", <DeviceOf key="device" anomaly={anomaly} />],
            ["Compared with", <Foreign key="group" text={anomaly.group || "itself alone"} longest={64} />], ["How unusual", percent(anomaly.score)],
            ["Began", <Moment key="since" at={anomaly.since} exact />], ["Found", <Moment key="found" at={anomaly.found_at} exact />],
            ["Alert", anomaly.alert_id === null ? "none" : <Link key="alert" to="/alerts/$alertId" params={{ alertId: anomaly.alert_id }}>its alert</Link>],
            ["Packets", <Captures key="packets" ids={anomaly.pcap_ids} />],
            ["Normal", anomaly.is_normal ? <Mark key="normal" tone="good">somebody said so</Mark> : "nobody said so"],
            ["Peers", <Foreign key="peers" text={anomaly.peers.join(", ") || "–"} longest={300} />], ["Met for the first time", <Foreign key="news" text={anomaly.news.join(", ") || "–"} longest={300} />],
          ]}
        />
      </Panel>
      {anomaly.series !== null && <Panel title={<>{words(anomaly.metric)} in the hours before</>}><Series series={anomaly.series} usual={anomaly.usual} high={anomaly.expected_high} /></Panel>}
      <Panel title="What weighs most" isFlush>
        <Table heads={["What", "Measured", "Usual", "Expected", "Weight"]}>
          {anomaly.features.map((feature) => (
            <tr key={feature.name}>
              <td className={styles["name"]}><Foreign text={words(feature.name)} longest={80} /></td><td>{formatMeasure(feature.name, feature.observed)}</td><td>{formatMeasure(feature.name, feature.usual)}</td>
              <td>{formatMeasure(feature.name, feature.expected_low)} to {formatMeasure(feature.name, feature.expected_high)}</td><td>{percent(feature.share)}</td>
            </tr>
          ))}
        </Table>
      </Panel>
      {anomaly.site_series.length > 0 && (
        <Panel title="What was unusual of the whole site in that hour" isFlush>
          <Table heads={["When", "What", "In five minutes", "How unusual"]}>
            {anomaly.site_series.map(({ name, at, observed, score }) => (
              <tr key={name}>
                <td><Moment at={at} exact /></td><td className={styles["name"]}><Foreign text={words(name)} longest={80} /></td><td>{formatMeasure(name, observed)}</td><td>{percent(score)}</td>
              </tr>
            ))}
          </Table>
        </Panel>
      )}
      <Panel title="What else happened at the site" isFlush>
        {anomaly.around.length === 0 ? <Nothing>Nothing that changes a network.</Nothing> : (
          <Table heads={["When", "What", "Device"]}>
            {anomaly.around.map(({ type, at, device_id: id }, index) => (
              <tr key={index}><td><Moment at={at} exact /></td><td>{kindName(type)}</td><td>{id === null ? "–" : <Link to="/devices/$deviceId" params={{ deviceId: id }}>the device</Link>}</td></tr>
            ))}
          </Table>
        )}
      </Panel>
    </>
  );
}

/** Who may read captures is led to them. */
function Captures({ ids }: { readonly ids: readonly string[] }) {
  const mayRead = useMay("pcap:read");
  if (ids.length === 0) return "none";
  if (!mayRead) return ids.length === 1 ? "one capture" : `${ids.length} captures`;
  return ids.map((id, index) => <span key={id}>{index > 0 && ", "}<Link to="/captures/$pcapId" params={{ pcapId: id }}>capture {index + 1}</Link></span>);
}
