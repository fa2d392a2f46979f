import type { AnomalyModel } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Mark } from "../parts/mark.tsx";
import { Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { ModelActions } from "../sensors/model-actions.tsx";
import { limitOfReach } from "../sensors/reach.ts";
import styles from "../sensors/sensors.module.css";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Nothing } from "../states/answer.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { LearnedDialog } from "./learned-dialog.tsx";

const COUNTS = [["learning", "Learning"], ["active", "Active"], ["drifted", "Drifted"], ["frozen", "Frozen"]] as const;

/** How the probes of a site, or of all, watch what devices do. */
export function useModels(siteId: string | undefined) {
  const { rest } = useSession();
  return useQuery({
    queryKey: ["anomalies", "models"], queryFn: () => rest.listAnomalyModels({ per_page: 1000 }),
    select: useCallback(({ data }: { readonly data: readonly AnomalyModel[] }) => data.filter(({ site_id: id }) => siteId === undefined || id === siteId), [siteId]),
  });
}

/** What each probe has learned of devices: how many it knows and in which state, the devices themselves, freezing and forgetting. */
export function Models({ siteId }: { readonly siteId: string | undefined }) {
  const mayWrite = useMay("sensors:write");
  const [shown, setShown] = useState<AnomalyModel | null>(null);
  return (
    <Panel title="What probes have learned" isFlush>
      <Answer query={useModels(siteId)}>
        {(models) => (models.length === 0 ? <Nothing>No probe is enrolled here.</Nothing> : (
          <Table heads={["Probe", ...COUNTS.map(([, title]) => title), "Hours compared", "Found", "Devices", mayWrite && "Action"]}>
            {models.map((model) => <ModelRow key={model.probe_id} model={model} onShow={() => setShown(model)} mayWrite={mayWrite} />)}
          </Table>
        ))}
      </Answer>
      {shown !== null && <LearnedDialog model={shown} onClose={() => setShown(null)} />}
    </Panel>
  );
}

function ModelRow({ model, onShow, mayWrite }: { readonly model: AnomalyModel; readonly onShow: () => void; readonly mayWrite: boolean }) {
  const { probe_id: id, name, is_online: isOnline, other_hosts: otherHosts, state } = model;
  const limit = limitOfReach(otherHosts);
  const probe = <td className={styles["name"]}><Foreign text={name} longest={60} /> <Mark tone={isOnline ? "good" : "warn"}>{isOnline ? "online" : "away"}</Mark>{state !== null && limit !== null && <p className={styles["warning"]}>{limit}</p>}</td>;
  if (state === null) return <tr>{probe}<td colSpan={COUNTS.length + (mayWrite ? 4 : 3)}>It does not watch what devices do: it reads no traffic (<code>[traffic]</code> in its configuration), or has not reported yet.</td></tr>;
  return (
    <tr>
      {probe}
      {COUNTS.map(([count]) => <td key={count}>{state[count].toLocaleString("en")}</td>)}
      <td>{state.compared_hours.toLocaleString("en")}{state.distrusted_hours > 0 && <span className={styles["beside"]}>{state.distrusted_hours.toLocaleString("en")} more were not trusted: frames were lost in them</span>}</td>
      <td>{state.found.toLocaleString("en")}{state.suppressed > 0 && <span className={styles["beside"]}>{state.suppressed.toLocaleString("en")} more are normal</span>}</td>
      <td>{isOnline ? <Button onClick={onShow}>Show</Button> : "–"}</td>
      {mayWrite && <td>{isOnline ? <ModelActions probeId={id} probe={name} acts={state.frozen > 0 ? ["freeze", "learn", "reset"] : ["freeze", "reset"]} /> : "when it is back"}</td>}
    </tr>
  );
}
