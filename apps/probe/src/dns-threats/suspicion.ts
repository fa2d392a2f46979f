/** What the detectors of other people's DNS say, as a finding. */
import type { DnsSuspicion } from "@lanthorn/dns";
import type { DnsFinding } from "./finding.ts";

const TO_MILLISECONDS = 1000;
/** @see https://www.iana.org/assignments/dns-parameters */
const TYPES: Readonly<Record<number, string>> = {
  1: "A", 2: "NS", 5: "CNAME", 6: "SOA", 10: "NULL", 12: "PTR", 15: "MX", 16: "TXT", 25: "KEY", 28: "AAAA", 33: "SRV", 64: "SVCB", 65: "HTTPS", 99: "SPF", 255: "ANY",
};

/** @param type A record type. @returns As text: `TXT`, `TYPE65399`. */
export function typeName(type: number): string {
  return TYPES[type] ?? `TYPE${type}`;
}

/** @param packet The frame that showed it; null where there is none. */
export function fromSuspicion(suspicion: DnsSuspicion, packet: Uint8Array | null): DnsFinding {
  const { kind, campaign, client, server, at, name, type, samples, count, severity, techniques, signals } = suspicion;
  return {
    mode: "passive", campaign, category: kind, action: "reported", severity, times: count, at: at / TO_MILLISECONDS, clientIp: client, serverIp: server, name,
    type: type === 0 ? "" : typeName(type), samples, reason: signals.join("; "), feed: "", lists: [], policy: "", blockedRecord: null, listedAt: null, techniques, packet,
  };
}
