import type { Scan, ScanHost } from "@lanthorn/contract";
import { formatTable, type Table, UNBROKEN, wrap } from "../table.ts";

const BAR_CELLS = 30;
/** Erases from the cursor to the screen's end, after going up so many lines. @see ECMA-48 8.3.22, 8.3.39 */
const goUp = (lines: number) => (lines > 0 ? `\u001B[${lines}A` : "") + "\r\u001B[J";

/** A scan as it goes on: drawn over what was drawn before. */
export interface ScanView {
  draw(scan: Scan, hosts: readonly ScanHost[]): void;
  /** Takes the drawing away. */
  clear(): void;
}

/** @param screen What the terminal has: more lines, or lines that it goes on with below, could not be drawn over. */
export function createScanView(screen: {
  readonly write: (text: string) => void;
  readonly rows: () => number;
  readonly columns: () => number;
}): ScanView {
  let drawn = 0;
  return {
    draw(scan, hosts) {
      const columns = screen.columns();
      const all = describeProgress(scan, hosts, columns).split("\n").map((line) => line.slice(0, columns));
      const lines = all.slice(0, Math.max(1, screen.rows() - 1));
      screen.write(`${goUp(drawn)}${lines.join("\n")}\n`);
      drawn = lines.length;
    },
    clear() {
      screen.write(goUp(drawn));
      drawn = 0;
    },
  };
}

/** A bar, and a table of who answered so far with their open ports: the latest first. */
export function describeProgress(scan: Scan, hosts: readonly ScanHost[], width = Number.POSITIVE_INFINITY): string {
  const cells = Math.round(scan.progress * BAR_CELLS);
  const percent = `${Math.round(scan.progress * 100)} %`.padStart(5);
  const bar = `[${"#".repeat(cells)}${".".repeat(BAR_CELLS - cells)}] ${percent}  ${scan.target}  `
    + `${scan.hosts_up} hosts, ${scan.ports_open} open ports`;
  const head = [bar, ...describeRemarks(scan).flatMap((remark) => wrap(remark, width))].join("\n");
  if (hosts.length === 0) return head;
  return `${head}\n${formatTable(hostsTable(hosts.toSorted((a, b) => b.seen_at.localeCompare(a.seen_at))), width)}`;
}

/** A line for each device that answers for what is not there. */
export function describeRemarks({ remarks }: Pick<Scan, "remarks">): readonly string[] {
  return remarks.map(({ message }) => `! ${message}`);
}

/** Hosts with their open ports and, where some were asked, how many others there are. */
export function hostsTable(hosts: readonly ScanHost[]): Table {
  if (hosts.every(({ port_counts }) => port_counts === null)) return { heading: HEADING, rows: hosts.map(hostRow) };
  return {
    heading: [...HEADING, "OTHER PORTS"], keptColumns: HEADING.length, rows: hosts.map((host) => [...hostRow(host), otherPorts(host)]),
  };
}

const HEADING = ["IP", "MAC", "HOSTNAME", "OPEN PORTS"] as const;

function otherPorts({ port_counts: counts }: ScanHost): string {
  const states = (["closed", "filtered", "open|filtered"] as const).map((state) =>
    [(counts?.tcp[state] ?? 0) + (counts?.udp[state] ?? 0), state] as const);
  return states.filter(([count]) => count > 0).map(([count, state]) => `${count}${UNBROKEN}${state}`).join(", ") || "-";
}

function hostRow(host: ScanHost): readonly string[] {
  const open = host.ports.filter(({ state }) => state === "open");
  return [
    host.ip, host.mac || "-", host.hostname || "-",
    open.map(portText).join(", ") || "-",
  ];
}

function portText({ port, protocol, service }: ScanHost["ports"][number]): string {
  const number = protocol === "udp" ? `${port}/udp` : String(port);
  return service === "" ? number : `${number}${UNBROKEN}${service}`;
}
