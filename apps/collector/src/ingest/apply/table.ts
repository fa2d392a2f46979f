import type { ProbeEvent, ProbeEventType } from "@lanthorn/contract";
import type { HostRef } from "../devices-draft.ts";
import type { Apply, ApplyContext, EventOf, LogEntry } from "./apply.ts";
import { hostChanged, hostFound } from "./host-state.ts";
import { neighborDiscovered } from "./neighbor.ts";
import { portFound } from "./port-found.ts";
import { switchReport } from "./switch-report.ts";
import { hostOffline, hostOnline, presenceReport } from "./presence.ts";

/** An event that changes nothing but the log; the device that it is about is named there, if it is known. */
function logOnly<T extends ProbeEventType>(subject: (event: EventOf<T>) => { readonly ip?: string; readonly mac?: string }): Apply<T> {
  const refOf = (event: EventOf<T>): HostRef | null => {
    const { ip = "", mac = "" } = subject(event);
    return ip === "" && mac === "" ? null : { ip, mac };
  };
  return {
    hosts: (event) => [refOf(event) ?? []].flat(),
    apply(event, { set }) {
      const ref = refOf(event);
      return { type: event.type, deviceId: (ref && set.find(ref)?.id) ?? null, data: event.data };
    },
  };
}

const ofNobody = () => ({});

/** How each type of event that a probe may send is applied. */
const APPLY: { readonly [T in ProbeEventType]: Apply<T> } = {
  host_found: hostFound,
  host_changed: hostChanged,
  host_online: hostOnline,
  host_offline: hostOffline,
  presence_report: presenceReport,
  port_found: portFound,
  scan_started: logOnly(ofNobody),
  scan_progress: logOnly(ofNobody),
  scan_results: logOnly(ofNobody),
  scan_remark: logOnly(({ data }) => data),
  scan_complete: logOnly(ofNobody),
  scan_failed: logOnly(ofNobody),
  scan_cancelled: logOnly(ofNobody),
  neighbor_discovered: neighborDiscovered,
  neighbor_lost: logOnly(ofNobody),
  neighbor_report: logOnly(ofNobody),
  switch_report: switchReport,
  baseline_diff_alert: logOnly(({ data }) => data),
  ids_alert: logOnly(({ data }) => ({ ip: data.source_ip })),
  honeypot_hit: logOnly(({ data }) => ({ ip: data.source_ip, mac: data.source_mac })),
  rogue_detected: logOnly(({ data }) => data),
  dns_threat: logOnly(({ data }) => ({ ip: data.client_ip, mac: data.client_mac })),
  pcap_ready: logOnly(ofNobody),
  probe_health_alert: logOnly(ofNobody),
  error: logOnly(ofNobody),
  queue_gap: logOnly(ofNobody),
};

/** The hosts that an event is about. */
export function hostsOf(event: ProbeEvent): readonly HostRef[] {
  return (APPLY[event.type] as Apply<ProbeEventType>).hosts(event);
}

export function touchesOf(event: ProbeEvent): "addresses" | "ports" | undefined {
  return APPLY[event.type].touches;
}

/** Applies an event to what is known, and says what is to be logged. */
export function applyEvent(event: ProbeEvent, context: ApplyContext): LogEntry {
  return (APPLY[event.type] as Apply<ProbeEventType>).apply(event, context);
}
