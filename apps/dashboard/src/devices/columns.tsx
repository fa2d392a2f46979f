import type { Device } from "@lanthorn/contract";
import type { ReactNode } from "react";
import { DEVICE_TYPE_NAMES } from "../texts/device-type.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Presence } from "../parts/mark.tsx";
import { useSites } from "../shell/site-switch.tsx";
import { Moment } from "../texts/moment.tsx";
import styles from "./device-grid.module.css";

/** A column of the grid. */
export interface Column {
  readonly id: "state" | "name" | "ip" | "mac" | "vendor" | "type" | "os" | "ports" | "seen" | "site" | "found";
  readonly title: string;
  /** Its least width in rem, and its part of what is left over; 0 for none. */
  readonly width: readonly [rem: number, part: number];
  /** What the API orders by; undefined where it cannot. */
  readonly sort?: "ip" | "hostname" | "last_seen" | "vendor";
  readonly cell: (device: Device) => ReactNode;
}

const MAX_PORTS = 8;
const none = <span className={styles["none"]}>–</span>;

/** Every column, from left to right; the usual ones first. */
export const COLUMNS: readonly Column[] = [
  { id: "state", title: "State", width: [5.25, 0], cell: ({ presence_state: state }) => <Presence state={state} /> },
  {
    id: "name", title: "Name", width: [10, 2.2], sort: "hostname",
    cell: ({ hostname, tags }) => (
      <>
        {hostname === "" ? none : <span className={styles["hostname"]}><Foreign text={hostname} longest={80} /></span>}
        {tags.slice(0, 3).map((tag) => <span key={tag} className={styles["tag"]}><Foreign text={tag} longest={24} /></span>)}
      </>
    ),
  },
  { id: "ip", title: "IP address", width: [7.25, 1], sort: "ip", cell: ({ ip }) => (ip === "" ? none : <code>{ip}</code>) },
  { id: "mac", title: "MAC address", width: [8.75, 0], cell: ({ mac }) => (mac === "" ? none : <code>{mac}</code>) },
  { id: "vendor", title: "Vendor", width: [8, 1.8], sort: "vendor", cell: ({ vendor }) => (vendor === "" ? none : <Foreign text={vendor} longest={60} />) },
  { id: "type", title: "Type", width: [6.5, 0], cell: ({ device_type: type }) => (type === "unknown" ? none : DEVICE_TYPE_NAMES[type]) },
  { id: "os", title: "System", width: [5, 1.2], cell: ({ os_guess: os }) => (os === "" ? none : <Foreign text={os} longest={60} />) },
  {
    id: "ports", title: "Open ports", width: [5.5, 1],
    cell: ({ open_ports: ports }) => (ports.length === 0 ? none : `${ports.slice(0, MAX_PORTS).join(" ")}${ports.length > MAX_PORTS ? ` +${ports.length - MAX_PORTS}` : ""}`),
  },
  { id: "seen", title: "Last seen", width: [6.5, 0], sort: "last_seen", cell: ({ last_seen: at }) => <Moment at={at} /> },
  { id: "site", title: "Site", width: [7, 1], cell: ({ site_id: id }) => <SiteName id={id} /> },
  { id: "found", title: "First seen", width: [6.5, 0], cell: ({ first_seen: at }) => <Moment at={at} /> },
];
const USUAL = COLUMNS.slice(0, 9);
/** A phone has room for so many. */
export const NARROW_COLUMNS = 3;
const GAP_REM = 0.75;
const PADDING_REM = 2;

/** @param names As address, view or preferences have them. @returns Those columns, without what is none; the usual ones where nothing is left. */
export function columnsOf(names: readonly string[]): readonly Column[] {
  const named = [...new Set(names)].flatMap((name) => COLUMNS.filter(({ id }) => id === name));
  return named.length === 0 ? USUAL : named;
}

/** How columns share the width, as CSS takes it: all of them, and the first three where there is room for no more. */
export function widthsOf(columns: readonly Column[]): { readonly all: string; readonly least: string; readonly narrow: string } {
  const wide = columns.map(({ width: [rem, part] }) => (part === 0 ? `${rem}rem` : `minmax(${rem}rem, ${part}fr)`));
  // Who takes most of the room gives most of it.
  const narrow = columns.slice(0, NARROW_COLUMNS).map(({ width: [rem, part] }) => (part > 1 ? `minmax(0, ${part}fr)` : `${rem}rem`));
  const least = columns.reduce((sum, { width: [rem] }) => sum + rem, 0) + GAP_REM * (columns.length - 1) + PADDING_REM;
  return { all: wide.join(" "), least: `${least}rem`, narrow: narrow.join(" ") };
}

function SiteName({ id }: { readonly id: string }) {
  const name = useSites().data?.data.find((site) => site.id === id)?.name;
  return name === undefined ? none : <Foreign text={name} longest={60} />;
}
