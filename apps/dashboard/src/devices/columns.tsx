import type { Device } from "@lanthorn/contract";
import type { ReactNode } from "react";
import { DEVICE_TYPE_NAMES } from "../texts/device-type.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Presence } from "../parts/mark.tsx";
import { Moment } from "../texts/moment.tsx";
import styles from "./device-grid.module.css";

/** A column of the grid. */
export interface Column {
  readonly id: "state" | "name" | "ip" | "mac" | "vendor" | "type" | "os" | "ports" | "seen";
  readonly title: string;
  /** What the API orders by; undefined where it cannot. */
  readonly sort?: "ip" | "hostname" | "last_seen" | "vendor";
  readonly cell: (device: Device) => ReactNode;
}

const MAX_PORTS = 8;
const none = <span className={styles["none"]}>–</span>;

/** Every column, from left to right. */
export const COLUMNS: readonly Column[] = [
  { id: "state", title: "State", cell: ({ presence_state: state }) => <Presence state={state} /> },
  {
    id: "name", title: "Name", sort: "hostname",
    cell: ({ hostname, tags }) => (
      <>
        {hostname === "" ? none : <span className={styles["hostname"]}><Foreign text={hostname} longest={80} /></span>}
        {tags.slice(0, 3).map((tag) => <span key={tag} className={styles["tag"]}><Foreign text={tag} longest={24} /></span>)}
      </>
    ),
  },
  { id: "ip", title: "IP address", sort: "ip", cell: ({ ip }) => (ip === "" ? none : <code>{ip}</code>) },
  { id: "mac", title: "MAC address", cell: ({ mac }) => (mac === "" ? none : <code>{mac}</code>) },
  { id: "vendor", title: "Vendor", sort: "vendor", cell: ({ vendor }) => (vendor === "" ? none : <Foreign text={vendor} longest={60} />) },
  { id: "type", title: "Type", cell: ({ device_type: type }) => (type === "unknown" ? none : DEVICE_TYPE_NAMES[type]) },
  { id: "os", title: "System", cell: ({ os_guess: os }) => (os === "" ? none : <Foreign text={os} longest={60} />) },
  {
    id: "ports", title: "Open ports",
    cell: ({ open_ports: ports }) => (ports.length === 0 ? none : `${ports.slice(0, MAX_PORTS).join(" ")}${ports.length > MAX_PORTS ? ` +${ports.length - MAX_PORTS}` : ""}`),
  },
  { id: "seen", title: "Last seen", sort: "last_seen", cell: ({ last_seen: at }) => <Moment at={at} /> },
];
