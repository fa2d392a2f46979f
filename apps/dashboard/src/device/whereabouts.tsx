import type { DeviceProfile } from "@lanthorn/contract";
import { deviceName } from "../texts/device-name.ts";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import styles from "./whereabouts.module.css";

/** Which switch port the device is at, drawn: the switch, the cable with both ports, the device. */
export function Whereabouts({ device }: { readonly device: DeviceProfile }) {
  const links = device.neighbors.toSorted((one, other) => Number(other.state === "up") - Number(one.state === "up") || other.confidence - one.confidence);
  if (links.length === 0) return <p className={styles["none"]}>No switch has reported it. Switches are asked over SNMP when the vault has a credential for the site; those beside a probe are heard by LLDP and CDP.</p>;
  return (
    <ul className={styles["links"]}>
      {links.map((link) => (
        <li key={`${link.protocol} ${link.system_name} ${link.port_id}`} data-state={link.state}>
          <span className={styles["node"]}><Foreign text={link.system_name || "a neighbor"} longest={60} /></span>
          <span className={styles["cable"]}>
            <span>{showForeign(link.port_id, 40)}</span><span className={styles["line"]} aria-hidden="true" /><span>{showForeign(link.local_port, 40)}</span>
          </span>
          <span className={styles["node"]}><Foreign text={deviceName(device)} longest={60} /></span>
          <span className={styles["by"]}>{link.protocol}, {link.state}, <Moment at={link.last_seen} /></span>
        </li>
      ))}
    </ul>
  );
}
