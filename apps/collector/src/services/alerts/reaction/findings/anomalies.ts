import type { EventData } from "@lanthorn/contract";
import type { Finding } from "../finding.ts";

type Anomaly = EventData<"anomaly_detected">;

const DAY_MS = 24 * 3_600_000;

/** What was seen, in words around the device, and what to do about it. */
const MEANINGS: Readonly<Record<NonNullable<Anomaly["kind"]>, { readonly title: (device: string) => string; readonly advice: string }>> = {
  exfiltration: { title: (device) => `${device} sends unusually much out of the site`, advice: "Find out which program sends it and to whom. Block the host at the gateway until that is known." },
  scan: { title: (device) => `${device} asks unusually many hosts or ports`, advice: "Unless somebody scans on purpose, take the device off the network and look for malware that spreads." },
  admin_protocol: { title: (device) => `${device} administers a host that it never administered before`, advice: "Ask who did it. If nobody did, change the credentials that were used and look at both hosts." },
  new_region: { title: (device) => `${device} speaks to a place that it never spoke to before`, advice: "Find out which program speaks to it." },
  unusual_hour: { title: (device) => `${device} is busy at an unusual hour`, advice: "Ask whether somebody works at that hour, or a job was moved to it." },
  beacon: { title: (device) => `${device} calls a new host at regular times`, advice: "Find out which program calls. Unless it is known, take the device off the network and scan it for malware." },
  unusual_amount: { title: (device) => `${device} does far more than is usual`, advice: "Ask whether something was changed on the device." },
};

/** One alert for each device and kind; older senders name no kind, and the metric stands for it. */
export function anomalyFinding(data: Anomaly): Finding {
  const { kind, metric, mac, ip } = data;
  const device = data.device ?? (mac || ip);
  const meaning = kind && MEANINGS[kind];
  return {
    type: "anomaly", source: "anomaly", subject: `${kind ?? metric} ${device}`, severity: data.severity, title: meaning ? meaning.title(ip || device) : `Unusual ${metric} ${ip}`.trimEnd(),
    description: meaning ? `${data.explanation} ${meaning.advice} If it is normal, say so: lanthorn anomalies normal.` : data.explanation,
    deviceIp: ip, quietMs: DAY_MS, isCapped: true, ...(data.mitre_techniques && { techniques: data.mitre_techniques }), ...(data.incident_id !== undefined && { incidentId: data.incident_id }),
  };
}
