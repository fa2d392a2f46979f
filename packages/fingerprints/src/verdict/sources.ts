/**
 * How far each source is believed at most, whatever it claims of itself: who made a network card says little of the machine around it, and
 * people name machines as they like. A source that is not here says what it says about itself, and is believed up to `OTHERS`.
 * A source may name a part of itself behind a colon, as `mdns:_ipp._tcp`: its parts are not independent of each other.
 */
const CAPS: Readonly<Record<string, number>> = {
  person: 1,
  "snmp-object": 0.95, "snmp-description": 0.95, lldp: 0.9, cdp: 0.95, edp: 0.9, fdp: 0.9, sonmp: 0.8, nmap: 0.85,
  ssdp: 0.9, mdns: 0.9, "ws-discovery": 0.9, dhcp: 0.8,
  gateway: 0.75, oui: 0.75, tcp: 0.65, ports: 0.75, os: 0.75,
  hostname: 0.45, "reverse-dns": 0.6, "http-title": 0.8, "http-realm": 0.8, favicon: 0.8,
};
const OTHERS = 0.95;

/** What of a source is independent of others. */
export function witnessOf(source: string): string {
  const colon = source.indexOf(":");
  return colon === -1 ? source : source.slice(0, colon);
}

/** The highest confidence, 0–1, that a claim of this source may have. A part behind a colon has its protocol's. */
export function capOf(source: string): number {
  return CAPS[witnessOf(source)] ?? OTHERS;
}
