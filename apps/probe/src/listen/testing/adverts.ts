/** Frames as neighbors send them, each field at will. For tests only. */
import {
  CDP_DESTINATION, CDP_SNAP, type CdpItem, EDP_DESTINATION, EDP_SNAP, type EdpItem, encodeCdp, encodeEdp, encodeEthernet, encodeFdp,
  encodeLldp, encodeLlc, encodeSonmp, encodeUtf8, ETHER_TYPE, FDP_DESTINATION, FDP_SNAP, LLDP_CHASSIS_SUBTYPE, LLDP_DESTINATIONS,
  LLDP_PORT_SUBTYPE, type LldpId, type LldpItem, parseIp, parseMac, SONMP_DESTINATION, SONMP_SNAP, type VlanTag,
} from "@lanthorn/packets";

/** The chassis's MAC. */
export const SWITCH = "00:1c:73:00:99:10";
/** The MAC of the port that sends. */
export const SWITCH_PORT = "00:1c:73:00:99:1c";

/** Six bytes; zeros for text that is no MAC. */
export const mac = (text: string) => parseMac(text) ?? new Uint8Array(6);
/** Four or sixteen bytes; four zeros for text that is no address. */
export const ip = (text: string) => parseIp(text) ?? new Uint8Array(4);

const tag = (vlanId: number): VlanTag => ({ protocol: ETHER_TYPE.vlan, priority: 0, isDropEligible: false, vlanId });

interface LldpFields {
  readonly from?: string;
  readonly to?: string;
  readonly chassis?: string | LldpId;
  readonly port?: string | LldpId;
  readonly ttlSeconds?: number;
  readonly name?: string;
  readonly items?: readonly LldpItem[];
  /** In a tag of this VLAN. */
  readonly vlan?: number;
}

/** A switch's LLDP, by its MAC and its port's name. */
export function lldpFrame(fields: LldpFields = {}): Uint8Array {
  const {
    from = SWITCH_PORT, to = LLDP_DESTINATIONS[0], chassis = SWITCH, port = "Ethernet12", ttlSeconds = 120, name = "sw-store12",
  } = fields;
  const payload = encodeLldp({
    chassisId: typeof chassis === "string" ? { subtype: LLDP_CHASSIS_SUBTYPE.mac, id: mac(chassis) } : chassis,
    portId: typeof port === "string" ? { subtype: LLDP_PORT_SUBTYPE.interfaceName, id: encodeUtf8(port) } : port,
    ttlSeconds,
    items: [...(name === "" ? [] : [{ kind: "system-name", text: name } as const]), ...(fields.items ?? [])],
  });
  const vlanTags = fields.vlan === undefined ? [] : [tag(fields.vlan)];
  return encodeEthernet({ destination: mac(to), source: mac(from), etherType: ETHER_TYPE.lldp, payload, vlanTags });
}

/** Anything behind SNAP. */
export function snapFrame(
  to: string, snap: { readonly organization: number; readonly protocol: number }, payload: Uint8Array, from = SWITCH_PORT,
): Uint8Array {
  const header = { destinationServiceAccessPoint: 0xaa, sourceServiceAccessPoint: 0xaa, control: 3, snap, payload };
  return encodeEthernet({ destination: mac(to), source: mac(from), etherType: null, payload: encodeLlc(header) });
}

/** Version 2, behind SNAP, to the multicast address of CDP. */
export function cdpFrame(
  items: readonly CdpItem[], { ttlSeconds = 180, from = SWITCH_PORT }: { readonly ttlSeconds?: number; readonly from?: string } = {},
): Uint8Array {
  return snapFrame(CDP_DESTINATION, CDP_SNAP, encodeCdp({ version: 2, ttlSeconds, items }), from);
}

/** Of one switch at 10.0.0.4. @param capability As the switch writes it: `Switch`, `Router`. */
export function fdpFrame(capability: string): Uint8Array {
  return snapFrame(FDP_DESTINATION, FDP_SNAP, encodeFdp({
    version: 1, ttlSeconds: 180, items: [
      { kind: "device-id", text: "icx-1" }, { kind: "port-id", text: "ethernet1/1/3" }, { kind: "capability", text: capability },
      { kind: "platform", text: "ICX7250" },
      { kind: "addresses", addresses: [{ protocolType: 1, protocol: Uint8Array.of(0xcc), address: ip("10.0.0.4") }] },
    ],
  }));
}

/** Behind SNAP, from the port of `SWITCH`. */
export function edpFrame(items: readonly EdpItem[]): Uint8Array {
  return snapFrame(EDP_DESTINATION, EDP_SNAP, encodeEdp({ sequence: 1, deviceId: mac(SWITCH), items }));
}

/** Name, slot and port: what an EDP frame holds beside VLANs. */
export const EDP_PLACE: readonly EdpItem[] = [
  { kind: "display", name: "x440" },
  { kind: "information", slot: 0, port: 11, virtualChassis: 0, version: 0x0f030402, connections: new Uint8Array(16) },
];

/** Of one switch at 10.0.0.5. @param segment Unit, slot and port. */
export function sonmpFrame(segment: readonly number[]): Uint8Array {
  const hello = { address: ip("10.0.0.5"), segment: Uint8Array.from(segment), chassisType: 56, backplaneType: 12, state: 2, links: 1 };
  return snapFrame(SONMP_DESTINATION, SONMP_SNAP, encodeSonmp(hello));
}
