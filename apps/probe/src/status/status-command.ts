import type { Clock } from "@lanthorn/runtime";
import { ProbeError } from "../errors.ts";
import { readIdentity } from "../identity/identity.ts";
import { readStatus, type StatusReport } from "./status-file.ts";

/** The daemon writes at each look at its health; three that are missing mean that it does not run any more, whoever has its number now. */
const MISSED_REPORTS = 3;

/**
 * @returns What the running daemon says of itself.
 * @throws ProbeError `not-enrolled` or `not-running`.
 */
export function findStatus(dataDir: string, clock: Pick<Clock, "now">): StatusReport {
  const identity = readIdentity(dataDir);
  if (!identity) {
    throw new ProbeError(
      "not-enrolled", `this machine is not enrolled (nothing in ${dataDir}/identity): lanthorn-probe enroll --collector URL --token TOKEN`,
    );
  }
  const report = readStatus(dataDir);
  const fresh = report && clock.now() - Date.parse(report.written_at) < MISSED_REPORTS * report.interval_seconds * 1000;
  if (fresh && isAlive(report.pid)) return report;
  const last = report ? `; it was last heard at ${report.written_at}` : "";
  // A disk that takes nothing takes no status either, and a start would mend nothing.
  const advice = report && isAlive(report.pid)
    ? `unless process ${report.pid} is the daemon: then its disk may be full (df ${dataDir}); see its log (journalctl -u lanthorn-probe)`
    : "systemctl start lanthorn-probe, or lanthorn-probe run";
  throw new ProbeError("not-running", `enrolled as ${identity.probe_id}, but not running${last}: ${advice}`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The report as lines for people. */
export function describeStatus(report: StatusReport, now: number): string {
  const { collector, interface: link, queue } = report;
  const ago = (instant: string | null) => (instant === null ? "never" : `${describeAge(now - Date.parse(instant))} ago`);
  const lines: readonly (readonly [string, string])[] = [
    ["probe", `${report.probe_id}${report.site_name === null ? "" : `, site ${report.site_name}`}`],
    ["running", `version ${report.version}, process ${report.pid}, started ${ago(report.started_at)}`],
    ["collector", collector.connected
      ? `connected to ${collector.url} for ${describeAge(now - Date.parse(collector.since ?? report.started_at))}`
      : `not connected to ${collector.url}: ${collector.problem}`],
    ["acknowledged", ago(collector.last_acknowledged_at)],
    ["clock", collector.clock_offset_ms === null ? "not compared yet" : `collector is ${Math.round(collector.clock_offset_ms)} ms ahead`],
    ["certificate", `good until ${report.certificate_expires_at}`],
    ["interface", `${link.name} ${link.up ? `up, ${link.addresses.join(", ")}` : `not watched: ${link.problem}`}`],
    ["hosts", `${report.hosts.online} online of ${report.hosts.known} known`],
    ["queue", `${queue.events} events, ${(queue.bytes / 1024 / 1024).toFixed(1)} MiB, oldest ${queue.oldest_at ?? "none"}, `
      + `${queue.dropped} dropped`],
    ["disk", queue.writable ? "can be written" : `cannot be written; ${queue.in_memory} events wait in memory`],
    ["process", `${(report.process.rss_bytes / 1e6).toFixed(0)} MB resident, ${report.process.cpu_percent} % of a core`],
    ...report.decoys.map((line, index): readonly [string, string] => [index === 0 ? "decoys" : "", line]),
    ["alerts", report.alerts.length === 0 ? "none" : report.alerts.join(", ")],
  ];
  return lines.map(([name, text]) => `${name.padEnd(13)}${text}`).join("\n");
}

function describeAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
