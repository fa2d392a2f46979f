import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { CapturesOf } from "../captures/captures-of.tsx";
import { Answer } from "../states/answer.tsx";
import { Button } from "../parts/button.tsx";
import { count } from "../texts/count.ts";
import { deviceName } from "../texts/device-name.ts";
import { showForeign } from "../texts/foreign.tsx";
import { Presence } from "../parts/mark.tsx";
import { Moment } from "../texts/moment.tsx";
import { AtSite } from "../texts/zone.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { useSites } from "../shell/site-switch.tsx";
import { Behaviour } from "./behaviour/behaviour.tsx";
import styles from "./device-page.module.css";
import { EditDialog } from "./edit-dialog.tsx";
import { History } from "./history.tsx";
import { Identity } from "./identity.tsx";
import { Interfaces } from "./interfaces.tsx";
import { Ports } from "./ports.tsx";
import { Sameness } from "./sameness/sameness.tsx";
import { SoftwareOf } from "./software.tsx";
import { Vulnerabilities } from "./vulnerabilities.tsx";
import { Whereabouts } from "./whereabouts.tsx";

const route = getRouteApi("/devices/$deviceId");

/** All that is known of one device, and from where. */
export function DevicePage() {
  const { rest } = useSession();
  const { deviceId } = route.useParams();
  const device = useQuery({ queryKey: ["device", deviceId], queryFn: () => rest.readDevice(deviceId) });
  const sites = useSites();
  const mayEdit = useMay("devices:write");
  const [isEditing, setEditing] = useState(false);
  const known = device.data;
  return (
    <AtSite siteId={known?.site_id ?? null}>
      <Page
        trail={<Link to="/devices">All devices</Link>}
        title={known ? showForeign(deviceName(known), 80) : "Device"}
        note={known && (
          <span className={styles["facts"]}>
            <Presence state={known.presence_state} />
            {known.ip !== "" && <code>{known.ip}</code>}
            {known.mac !== "" && <code>{known.mac}</code>}
            <span>{showForeign(sites.data?.data.find(({ id }) => id === known.site_id)?.name ?? "", 60)}</span>
            <span>last seen <Moment at={known.last_seen} /></span>
          </span>
        )}
        actions={known && mayEdit && <Button onClick={() => setEditing(true)}>Name and tags</Button>}
      >
        <Answer query={device}>
          {(profile) => (
            <>
              {isEditing && <EditDialog device={profile} onClose={() => setEditing(false)} />}
              <div className={styles["columns"]}>
                <div className={styles["column"]}>
                  <Identity device={profile} />
                  <Panel title={count(profile.ports.length, "port")} isFlush><Ports ports={profile.ports} /></Panel>
                  <SoftwareOf software={profile.software} />
                  <Vulnerabilities cves={profile.cves} />
                  <Behaviour key={profile.id} device={profile} />
                </div>
                <div className={styles["column"]}>
                  <Panel title="Where it is"><Whereabouts device={profile} /></Panel>
                  <Panel title="Interfaces and addresses" isFlush><Interfaces interfaces={profile.interfaces} /></Panel>
                  <CapturesOf of={{ device_id: profile.id }}>{(list) => <Panel title="Captures">{list}</Panel>}</CapturesOf>
                  <Sameness key={profile.id} device={profile} />
                  <Panel title="What changed" isFlush><History history={profile.history} /></Panel>
                </div>
              </div>
            </>
          )}
        </Answer>
      </Page>
    </AtSite>
  );
}
