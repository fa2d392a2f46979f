import type { DeviceBehaviour, DeviceProfile, LearnedBehaviour } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Facts } from "../../fields/facts.tsx";
import { Panel } from "../../parts/page.tsx";
import { LifecycleMark, lifecycleText } from "../../sensors/lifecycle.tsx";
import { ModelActions } from "../../sensors/model-actions.tsx";
import { limitOfReach } from "../../sensors/reach.ts";
import { useMay, useSession } from "../../session/use-session.ts";
import { Answer } from "../../states/answer.tsx";
import { deviceName } from "../../texts/device-name.ts";
import { Foreign } from "../../texts/foreign.tsx";
import { Moment } from "../../texts/moment.tsx";
import styles from "./behaviour.module.css";
import { Hours } from "./hours.tsx";
import { Things } from "./things.tsx";

/** What is usual for a device, as each probe of its site learned it. The probes are asked once, as it stays with them; nothing for who may not see it. */
export function Behaviour({ device }: { readonly device: DeviceProfile }) {
  const { rest } = useSession();
  const mayRead = useMay("sensors:read");
  const learned = useQuery({ queryKey: ["anomalies", "behaviour", device.id], enabled: mayRead, refetchInterval: false, queryFn: () => rest.readDeviceBehaviour(device.id) });
  if (!mayRead) return null;
  return (
    <Panel title="What is usual for it" actions={<Link to="/sensors/anomalies" search={{ device_id: device.id }}>What was not</Link>}>
      <Answer query={learned}>
        {({ probes }) => (probes.length === 0 ? <p className={styles["soft"]}>No probe is at its site.</p> : (
          <div className={styles["probes"]}>{probes.map((probe) => <AtProbe key={probe.probe_id} probe={probe} device={device} />)}</div>
        ))}
      </Answer>
    </Panel>
  );
}

function AtProbe({ probe: { probe_id: probeId, name, problem, other_hosts: otherHosts, behaviour }, device }: {
  readonly probe: DeviceBehaviour["probes"][number]; readonly device: DeviceProfile;
}) {
  const limit = limitOfReach(otherHosts);
  if (behaviour === null) {
    return (
      <div>
        <p className={styles["soft"]}><strong><Foreign text={name} longest={60} /></strong>: <Foreign text={problem ?? "it does not know the device yet. It learns what it does once it sees its traffic."} longest={300} /></p>
        {problem === null && limit !== null && <p className={styles["limit"]}>{limit}</p>}
      </div>
    );
  }
  const { lifecycle } = behaviour;
  return (
    <div className={styles["probe"]}>
      <div className={styles["state"]}>
        <p><LifecycleMark lifecycle={lifecycle} /> {lifecycleText(lifecycle)}</p>
        <ModelActions
          probeId={probeId} probe={name} device={{ id: device.id, name: deviceName(device) }}
          acts={[lifecycle === "frozen" ? "learn" : "freeze", "reset"]}
        />
      </div>
      {limit !== null && <p className={styles["limit"]}>{limit}</p>}
      <Facts of={factsOf(name, behaviour)} />
      <Hours behaviour={behaviour} />
      <div className={styles["things"]}>
        <Things title="Hosts" things={behaviour.peers} nothing="It opens no conversations usually." />
        <Things title="Ports" things={behaviour.ports} nothing="It usually uses and offers none." />
        <Things title="Names" things={behaviour.names} nothing="It usually asks for none." />
      </div>
    </div>
  );
}

/** @param probe The name of the probe that learned it. */
function factsOf(probe: string, { lifecycle_since: since, known_since: known, hours_learned: hours, unusual_since: unusual, relearned_until: until, group, is_group_known: isKnown }: LearnedBehaviour): Parameters<typeof Facts>[0]["of"] {
  return [
    ["Learned by", <Foreign key="probe" text={probe} longest={60} />], ["In this state since", <Moment key="since" at={since} />],
    ["Known since", <Moment key="known" at={known} />], ["Hours learned", hours.toLocaleString("en")],
    ["Devices like it", group === "" ? "none known" : <><Foreign text={group} longest={64} />{!isKnown && ", of which too little is known yet"}</>],
    ...(unusual === null ? [] : [["Unusual now", <>since <Moment at={unusual} />: nothing is learned meanwhile</>] as const]),
    ...(until === null ? [] : [["Learned anew until", <Moment key="until" at={until} exact />] as const]),
  ];
}
