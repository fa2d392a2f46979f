import { type AnomalyModel, type LearnedDevice, LIFECYCLES } from "@lanthorn/contract";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Choose, choicesOf } from "../fields/choose.tsx";
import filters from "../fields/filters.module.css";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { LifecycleMark } from "../sensors/lifecycle.tsx";
import styles from "../sensors/sensors.module.css";
import { useSession } from "../session/use-session.ts";
import { Answer } from "../states/answer.tsx";
import { useCursorList } from "../states/use-list.ts";
import { count } from "../texts/count.ts";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";

const PAGE_SIZE = 50;

/** The devices that a probe knows, by their names there, with the state of each. */
export function LearnedDialog({ model: { probe_id: id, name }, onClose }: { readonly model: AnomalyModel; readonly onClose: () => void }) {
  const { rest } = useSession();
  const [lifecycle, setLifecycle] = useState("");
  // Each page is a question to the probe itself.
  const devices = useCursorList({
    refetchMs: false,
    queryKey: ["anomalies", "learned", id, lifecycle],
    read: (cursor) => rest.listAnomalyModelDevices(id, { per_page: PAGE_SIZE, cursor, ...(lifecycle !== "" && { lifecycle }) }),
  });
  return (
    <Dialog title={`Devices that ${showForeign(name, 60)} knows`} onClose={onClose}>
      <div className={form["form"]}>
        <div className={filters["filters"]}><Choose label="State" value={lifecycle} options={choicesOf(LIFECYCLES, "Any state")} onChange={setLifecycle} /></div>
        <Answer query={devices}>
          {({ list, total }) => (
            <>
              <p role="status">{count(total, "device")}</p>
              <ul className={styles["list"]}>{list.map((device) => <DeviceRow key={device.device} device={device} />)}</ul>
              {devices.hasNextPage && <Button onClick={() => void devices.fetchNextPage()} disabled={devices.isFetchingNextPage}>Show more</Button>}
            </>
          )}
        </Answer>
      </div>
    </Dialog>
  );
}

function DeviceRow({ device: { device, lifecycle, lifecycle_since: since, hours_learned: hours, group } }: { readonly device: LearnedDevice }) {
  return (
    <li>
      <Link to="/devices" search={{ search: device }}><code>{showForeign(device, 64)}</code></Link> <LifecycleMark lifecycle={lifecycle} />
      <span className={styles["beside"]}>since <Moment at={since} />, {hours.toLocaleString("en")} hours learned{group !== "" && <>, like others that <Foreign text={group} longest={64} /></>}</span>
    </li>
  );
}
