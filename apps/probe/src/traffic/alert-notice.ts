import type { EventData, ProbeEvent } from "@lanthorn/contract/uplink";
import { alertIdOf } from "@lanthorn/runtime";
import type { AlertNotice, Party } from "./messages.ts";

const NOBODY: Party = { macs: [], ips: [] };

/** Whom an alert is about: the device, and whom it spoke to where that is known; frames that raised it. */
interface Accused {
  readonly device: Party;
  readonly peer: Party | null;
  readonly packets: readonly string[];
}

/** Events that raise alerts → whom each accuses. Another kind is another row. */
const ACCUSED: { readonly [T in "rogue_detected" | "ids_alert" | "honeypot_hit" | "dns_threat" | "anomaly_detected"]: (data: EventData<T>) => Accused | null } = {
  rogue_detected: ({ state, kind, mac, ip, packets }) => {
    if (state === "ended") return null;
    // The address is often somebody else's: the gateway's that it claims. Where two have it, it is what the alert is about.
    const ips = ip !== "" && (mac === "" || kind === "duplicate_ip") ? [ip] : [];
    return { device: { macs: mac === "" ? [] : [mac], ips }, peer: null, packets };
  },
  ids_alert({ state, subject_ip: subject, peer_ip: peer, source_ip: source, destination_ip: destination, packets }) {
    if (state === "ended") return null;
    return { device: { macs: [], ips: [subject ?? source] }, peer: { macs: [], ips: [peer ?? destination] }, packets };
  },
  honeypot_hit: ({ source_mac: mac, source_ip: ip }) => ({ device: { macs: [mac], ips: [ip] }, peer: null, packets: [] }),
  dns_threat({ state, client_mac: mac, client_ip: ip, server_ip: server = "", packets = [] }) {
    if (state === "ended") return null;
    return { device: { macs: [mac], ips: [ip] }, peer: server === "" ? null : { macs: [], ips: [server] }, packets };
  },
  anomaly_detected: ({ is_alert: isAlert, mac, ip }) => (isAlert === false ? null : { device: { macs: [mac], ips: mac === "" ? [ip] : [] }, peer: null, packets: [] }),
};

/**
 * What the traffic process is to keep frames of.
 * @returns Null for an event that raises no alert, or that does not say of which incident it is: its alert's id cannot be known then.
 */
export function toAlertNotice(event: ProbeEvent, probeId: string): AlertNotice | null {
  if (!Object.hasOwn(ACCUSED, event.type)) return null;
  const read = ACCUSED[event.type as keyof typeof ACCUSED] as (data: unknown) => Accused | null;
  const incidentId = (event.data as { readonly incident_id?: unknown }).incident_id;
  const accused = read(event.data);
  if (accused === null || typeof incidentId !== "string") return null;
  const device = known(accused.device);
  return {
    alert_id: alertIdOf(probeId, incidentId), kind: ("kind" in event.data ? event.data.kind : undefined) ?? event.type, at: Date.parse(event.occurred_at),
    device: device.macs.length + device.ips.length > 0 ? device : senders(accused.packets),
    peer: accused.peer && known(accused.peer), packets: accused.packets.slice(0, 16),
  };
}

/** Events say "" for an address that they do not know. */
function known({ macs, ips }: Party): Party {
  return { macs: macs.filter((mac) => mac !== ""), ips: ips.filter((ip) => ip !== "") };
}

/** Of an alert about nobody in particular: who sent the frames that raised it. */
function senders(packets: readonly string[]): Party {
  const macs = packets.map((text) => Buffer.from(text, "base64")).filter(({ length }) => length >= 12)
    .map((bytes) => bytes.toString("hex", 6, 12).replaceAll(/(..)(?=.)/g, "$1:"));
  return { ...NOBODY, macs: [...new Set(macs)] };
}
