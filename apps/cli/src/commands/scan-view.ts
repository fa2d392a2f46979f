import type { Scan, ScanHost } from "@lanthorn/contract";
import { formatTable } from "../table.ts";

const BAR_CELLS = 30;
/** Erases from the cursor to the screen's end, after going up so many lines. @see ECMA-48 8.3.22, 8.3.39 */
const goUp = (lines: number) => (lines > 0 ? `\u001B[${lines}A` : "") + "\r\u001B[J";

/** A scan as it goes on: drawn over what was drawn before. */
export interface ScanView {
  draw(scan: Scan, hosts: readonly ScanHost[]): void;
  /** Takes the drawing away. */
  clear(): void;
}

/** @param screen.rows As many as the terminal has: more than that could not be drawn over. */
export function createScanView(screen: { readonly write: (text: string) => void; readonly rows: () => number }): ScanView {
  let drawn = 0;
  return {
    draw(scan, hosts) {
      const lines = describeProgress(scan, hosts).split("\n").slice(0, Math.max(1, screen.rows() - 1));
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
export function describeProgress(scan: Scan, hosts: readonly ScanHost[]): string {
  const cells = Math.round(scan.progress * BAR_CELLS);
  const percent = `${Math.round(scan.progress * 100)} %`.padStart(5);
  const bar = `[${"#".repeat(cells)}${".".repeat(BAR_CELLS - cells)}] ${percent}  ${scan.target}  ${scan.hosts_up} hosts, ${scan.ports_open} open ports`;
  if (hosts.length === 0) return bar;
  const latest = hosts.toSorted((a, b) => b.seen_at.localeCompare(a.seen_at));
  return `${bar}\n${formatTable(HOST_HEADING, latest.map(hostRow))}`;
}

export const HOST_HEADING = ["IP", "MAC", "HOSTNAME", "OPEN PORTS"] as const;

export function hostRow(host: ScanHost): readonly string[] {
  const open = host.ports.filter(({ state }) => state === "open");
  return [
    host.ip, host.mac || "-", host.hostname || "-",
    open.map(({ port, protocol, service }) => `${port}${protocol === "udp" ? "/udp" : ""}${service === "" ? "" : ` ${service}`}`).join(", ") || "-",
  ];
}
