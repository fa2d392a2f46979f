import {
  CDP_DESTINATION, CDP_SNAP, decodeCdp, decodeEdp, decodeFdp, decodeLldp, decodeLlc, decodeSonmp, EDP_DESTINATION, EDP_SNAP,
  type EdpPdu, equalBytes, ETHER_TYPE, FDP_DESTINATION, FDP_SNAP, formatIpv4, formatMac, type Frame, LLDP_DESTINATIONS, SONMP_DESTINATION, SONMP_SNAP,
  type SonmpHello,
} from "@lanthorn/packets";
import type { BusFrame } from "../bus/frame-bus.ts";
import { type Advert, cleanText, cleanVlans, emptyFacts, LIMITS, type NeighborFacts } from "./advert.ts";
import { cdpFacts, fdpFacts } from "./cdp-facts.ts";
import { lldpFacts } from "./lldp-facts.ts";

/** Where the five protocols send to, in one number each: first three bytes and last three. */
const DESTINATIONS: ReadonlySet<number> = new Set(
  [...LLDP_DESTINATIONS, CDP_DESTINATION, EDP_DESTINATION, FDP_DESTINATION, SONMP_DESTINATION]
    .map((mac) => Number.parseInt(mac.replaceAll(":", ""), 16)),
);

/** EDP and SONMP have no time to live; both are sent at least once a minute, and two may get lost. */
const TTL_WITHOUT_ONE_SECONDS = 180;
const MIN_HEADER_LENGTH = 14;

/** What each sender said last: nearly always it says the same again, and more than one module asks. */
const known: ({ readonly bytes: Uint8Array; readonly wireLength: number; readonly advert: Advert | null } | undefined)[] = [];
const MAX_KNOWN = 64;

/**
 * Reads one frame for what a neighbor says of itself, VLAN tags or not.
 * @returns Null for every other frame, for a malformed one, and for one that names neither chassis nor port. The same object for the same bytes.
 */
export function readAdvert(frame: BusFrame): Advert | null {
  const { bytes, wireLength } = frame;
  if (bytes.length < MIN_HEADER_LENGTH || !DESTINATIONS.has(destinationOf(bytes))) return null;
  const place = ((bytes[11] as number) * 31 + (bytes[10] as number) * 7 + (bytes[5] as number) * 3 + bytes.length) % MAX_KNOWN;
  const last = known[place];
  if (last?.wireLength === wireLength && equalBytes(last.bytes, bytes)) return last.advert;
  const advert = read(frame, bytes);
  known[place] = { bytes: bytes.slice(), wireLength, advert };
  return advert;
}

function read(frame: BusFrame, bytes: Uint8Array): Advert | null {
  const decoded = frame.decoded();
  if (!decoded.ok || !decoded.value.sourceMac) return null;
  const sourceMac = formatMac(decoded.value.sourceMac);
  // A multicast address sends nothing.
  if (((bytes[6] as number) & 1) !== 0) return null;
  if (decoded.value.etherType === ETHER_TYPE.lldp) return readLldp(decoded.value, sourceMac);
  return decoded.value.network === "llc" ? readSnap(decoded.value, sourceMac) : null;
}

/** @returns -1 for what begins with other bytes than those of the protocols, as nearly all do. */
function destinationOf(bytes: Uint8Array): number {
  if ((bytes[0] as number) > 1) return -1;
  let number = 0;
  for (let at = 0; at < 6; at += 1) number = number * 256 + (bytes[at] as number);
  return number;
}

function readLldp(frame: Frame, sourceMac: string): Advert | null {
  const pdu = decodeLldp(frame.networkBytes);
  return pdu.ok ? { protocol: "lldp", sourceMac, ttlSeconds: pdu.value.ttlSeconds, facts: lldpFacts(pdu.value), isVlansOnly: false } : null;
}

function readSnap(frame: Frame, sourceMac: string): Advert | null {
  const llc = decodeLlc(frame.networkBytes);
  if (!llc.ok || !llc.value.snap) return null;
  const { payload, snap: { organization, protocol } } = llc.value;
  const is = (snap: { readonly organization: number; readonly protocol: number }) =>
    snap.organization === organization && snap.protocol === protocol;
  if (is(CDP_SNAP)) {
    const pdu = decodeCdp(payload);
    const facts = pdu.ok ? cdpFacts(pdu.value) : null;
    return pdu.ok && facts ? { protocol: "cdp", sourceMac, ttlSeconds: pdu.value.ttlSeconds, facts, isVlansOnly: false } : null;
  }
  if (is(FDP_SNAP)) {
    const pdu = decodeFdp(payload);
    const facts = pdu.ok ? fdpFacts(pdu.value) : null;
    return pdu.ok && facts ? { protocol: "fdp", sourceMac, ttlSeconds: pdu.value.ttlSeconds, facts, isVlansOnly: false } : null;
  }
  if (is(EDP_SNAP)) {
    const pdu = decodeEdp(payload);
    return pdu.ok ? readEdp(pdu.value, sourceMac) : null;
  }
  const hello = is(SONMP_SNAP) ? decodeSonmp(payload) : null;
  return hello?.ok === true
    ? { protocol: "sonmp", sourceMac, ttlSeconds: TTL_WITHOUT_ONE_SECONDS, facts: sonmpFacts(hello.value), isVlansOnly: false }
    : null;
}

/** Slot and port come in one frame, VLANs in another. */
function readEdp({ deviceId, items }: EdpPdu, sourceMac: string): Advert | null {
  const place = items.find((item) => item.kind === "information");
  const vlans = items.flatMap((item) => (item.kind === "vlan" ? [item] : []));
  if (!place && vlans.length === 0) return null;
  const display = items.find((item) => item.kind === "display");
  const names = vlans.map(({ vlanId: id, name }) => ({ id, name: cleanText(name, LIMITS.vlanName) }))
    .filter(({ id }) => id > 0 && id < 4095);
  const facts: NeighborFacts = {
    ...emptyFacts({
      chassis_id: formatMac(deviceId), chassis_id_type: "mac",
      port_id: place ? `${place.slot + 1}/${place.port + 1}` : "", port_id_type: "interface-name",
    }),
    port_description: place ? `Slot ${place.slot + 1}, port ${place.port + 1}` : "",
    system_name: display ? cleanText(display.name) : "",
    system_description: place ? `EDP, software ${[24, 16, 8, 0].map((shift) => (place.version >>> shift) & 0xff).join(".")}` : "",
    capabilities: ["bridge"],
    vlan_ids: cleanVlans(names.map(({ id }) => id)),
    vlan_names: names.slice(0, LIMITS.vlans),
    management_addresses: [
      ...new Set(vlans.filter(({ address }) => address.some((byte) => byte !== 0)).map(({ address }) => formatIpv4(address))),
    ]
      .slice(0, LIMITS.addresses),
  };
  return { protocol: "edp", sourceMac, ttlSeconds: TTL_WITHOUT_ONE_SECONDS, facts, isVlansOnly: !place };
}

function sonmpFacts({ address, segment, chassisType }: SonmpHello): NeighborFacts {
  const ip = formatIpv4(address);
  const [unit = 0, slot = 0, port = 0] = segment;
  const place = [unit, slot, port].slice(unit === 0 && slot === 0 ? 2 : unit === 0 ? 1 : 0).join("/");
  return {
    ...emptyFacts({ chassis_id: ip, chassis_id_type: "network-address", port_id: place, port_id_type: "local" }),
    port_description: `Port ${place}`,
    system_description: `SONMP, chassis type ${chassisType}`,
    capabilities: ["bridge"],
    management_addresses: ip === "0.0.0.0" ? [] : [ip],
  };
}
