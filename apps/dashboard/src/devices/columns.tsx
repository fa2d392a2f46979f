import type { Device } from "@lanthorn/contract";
import type { ReactNode } from "react";
import { DEVICE_TYPE_NAMES } from "../texts/device-type.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Presence } from "../parts/mark.tsx";
import { useSites } from "../shell/site-switch.tsx";
import { Moment } from "../texts/moment.tsx";
import { AtSite } from "../texts/zone.tsx";
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
  { id: "state", title: "State", width: [4.75, 0], cell: ({ presence_state: state }) => <Presence state={state} /> },
  {
    id: "name", title: "Name", width: [7, 2.2], sort: "hostname",
    cell: ({ hostname, tags }) => (
      <>
        {hostname === "" ? none : <span className={styles["hostname"]}><Foreign text={hostname} longest={80} /></span>}
        {tags.slice(0, 3).map((tag) => <span key={tag} className={styles["tag"]}><Foreign text={tag} longest={24} /></span>)}
      </>
    ),
  },
  { id: "ip", title: "IP address", width: [7, 0.6], sort: "ip", cell: ({ ip }) => (ip === "" ? none : <code>{ip}</code>) },
  { id: "mac", title: "MAC address", width: [7.75, 0], cell: ({ mac }) => (mac === "" ? none : <code>{mac}</code>) },
  { id: "vendor", title: "Vendor", width: [5.5, 1.8], sort: "vendor", cell: ({ vendor }) => (vendor === "" ? none : <Foreign text={vendor} longest={60} />) },
  { id: "type", title: "Type", width: [5.25, 0.4], cell: ({ device_type: type }) => (type === "unknown" ? none : DEVICE_TYPE_NAMES[type]) },
  { id: "os", title: "System", width: [4.5, 1.2], cell: ({ os_guess: os }) => (os === "" ? none : <Foreign text={os} longest={60} />) },
  {
    id: "ports", title: "Open ports", width: [4.75, 1.2],
    cell: ({ open_ports: ports }) => (ports.length === 0 ? none : `${ports.slice(0, MAX_PORTS).join(" ")}${ports.length > MAX_PORTS ? ` +${ports.length - MAX_PORTS}` : ""}`),
  },
  { id: "seen", title: "Last seen", width: [5.25, 0.3], sort: "last_seen", cell: ({ last_seen: at, site_id: id }) => <AtSite siteId={id}><Moment at={at} /></AtSite> },
  { id: "site", title: "Site", width: [6, 1], cell: ({ site_id: id }) => <SiteName id={id} /> },
  { id: "found", title: "First seen", width: [5.25, 0.3], cell: ({ first_seen: at, site_id: id }) => <AtSite siteId={id}><Moment at={at} /></AtSite> },
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

/** Columns by what is missed most without them. */
const BY_WEIGHT: readonly Column["id"][] = ["state", "name", "ip", "mac", "vendor", "type", "seen", "ports", "os", "site", "found"];
/** What a small window or a tablet has room for. */
const MIDDLE_REM = 44;

/**
 * How columns share the width, as CSS takes it: all of them; those that matter most where there is less room; the first three on a phone.
 * @returns `late`: those that only the widest has.
 */
export function widthsOf(columns: readonly Column[]): { readonly all: string; readonly least: string; readonly middle: string; readonly narrow: string; readonly late: ReadonlySet<Column["id"]> } {
  const kept: Column[] = [];
  for (const column of columns.toSorted((one, other) => BY_WEIGHT.indexOf(one.id) - BY_WEIGHT.indexOf(other.id))) {
    if (leastOf([...kept, column]) <= MIDDLE_REM) kept.push(column);
  }
  const late = new Set(columns.filter((column) => !kept.includes(column)).map(({ id }) => id));
  // Who takes most of the room gives most of it.
  const narrow = columns.slice(0, NARROW_COLUMNS).map(({ width: [rem, part] }) => (part > 1 ? `minmax(0, ${part}fr)` : `${rem}rem`));
  return { all: tracksOf(columns), least: `${leastOf(columns)}rem`, middle: tracksOf(columns.filter(({ id }) => !late.has(id))), narrow: narrow.join(" "), late };
}

function tracksOf(columns: readonly Column[]): string {
  return columns.map(({ width: [rem, part] }) => (part === 0 ? `${rem}rem` : `minmax(${rem}rem, ${part}fr)`)).join(" ");
}

function leastOf(columns: readonly Column[]): number {
  return columns.reduce((sum, { width: [rem] }) => sum + rem, 0) + GAP_REM * (columns.length - 1) + PADDING_REM;
}

function SiteName({ id }: { readonly id: string }) {
  const name = useSites().data?.data.find((site) => site.id === id)?.name;
  return name === undefined ? none : <Foreign text={name} longest={60} />;
}
