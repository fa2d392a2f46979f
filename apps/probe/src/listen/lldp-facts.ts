import type { NeighborIdType, NeighborPower } from "@lanthorn/contract/uplink";
import {
  formatIp, formatMac, LLDP_CAPABILITIES, LLDP_CHASSIS_SUBTYPE, LLDP_PORT_SUBTYPE, type LldpId, type LldpPdu, type LldpPower, decodeUtf8,
} from "@lanthorn/packets";
import { cleanAddresses, cleanText, cleanVlans, emptyFacts, itemsOf, LIMITS, type NeighborFacts, wordsOf } from "./advert.ts";

const CHASSIS_TYPES: Readonly<Record<number, NeighborIdType>> = {
  [LLDP_CHASSIS_SUBTYPE.component]: "component",
  [LLDP_CHASSIS_SUBTYPE.interfaceAlias]: "interface-alias",
  [LLDP_CHASSIS_SUBTYPE.portComponent]: "port-component",
  [LLDP_CHASSIS_SUBTYPE.mac]: "mac",
  [LLDP_CHASSIS_SUBTYPE.networkAddress]: "network-address",
  [LLDP_CHASSIS_SUBTYPE.interfaceName]: "interface-name",
};
const PORT_TYPES: Readonly<Record<number, NeighborIdType>> = {
  [LLDP_PORT_SUBTYPE.interfaceAlias]: "interface-alias",
  [LLDP_PORT_SUBTYPE.portComponent]: "port-component",
  [LLDP_PORT_SUBTYPE.mac]: "mac",
  [LLDP_PORT_SUBTYPE.networkAddress]: "network-address",
  [LLDP_PORT_SUBTYPE.interfaceName]: "interface-name",
  [LLDP_PORT_SUBTYPE.agentCircuit]: "agent-circuit",
};
/** LLDP-MED's application for phones. */
const VOICE = 1;
const POWER_SOURCE = 1;

/** What an LLDPDU says; of a TLV that comes twice, the first. */
export function lldpFacts(pdu: LldpPdu): NeighborFacts {
  const chassis = readId(pdu.chassisId, CHASSIS_TYPES);
  const port = readId(pdu.portId, PORT_TYPES);
  const { items } = pdu;
  const vlanNames = itemsOf(items, "vlan-name");
  const native = itemsOf(items, "port-vlan")[0]?.vlanId ?? 0;
  const voice = itemsOf(items, "med-network-policy").find(({ application, isUnknown }) => application === VOICE && !isUnknown);
  const power = itemsOf(items, "power")[0];
  const addresses = itemsOf(items, "management-address").flatMap(({ family, address }) => ipOf(family, address));
  return {
    ...emptyFacts({ chassis_id: chassis.text, chassis_id_type: chassis.type, port_id: port.text, port_id_type: port.type }),
    port_description: cleanText(itemsOf(items, "port-description")[0]?.text ?? ""),
    system_name: cleanText(itemsOf(items, "system-name")[0]?.text ?? ""),
    system_description: cleanText(itemsOf(items, "system-description")[0]?.text ?? "", LIMITS.description),
    capabilities: wordsOf(itemsOf(items, "system-capabilities")[0]?.enabled ?? 0, LLDP_CAPABILITIES),
    management_addresses: cleanAddresses(addresses),
    platform: cleanText(itemsOf(items, "med-inventory").find(({ field }) => field === "model")?.text ?? ""),
    vlan_ids: cleanVlans([
      native, ...vlanNames.map(({ vlanId }) => vlanId), ...itemsOf(items, "protocol-vlan").map(({ vlanId }) => vlanId),
    ]),
    vlan_names: vlanNames.flatMap(({ vlanId: id, name }) => (id > 0 && id < 4095 ? [{ id, name: cleanText(name, LIMITS.vlanName) }] : []))
      .slice(0, LIMITS.vlans),
    native_vlan: native > 0 && native < 4095 ? native : null,
    voice_vlan: voice !== undefined && voice.vlanId > 0 && voice.vlanId < 4095 ? voice.vlanId : null,
    power: power ? readPower(power) : null,
  };
}

/** An id as its subtype says that it is to be read; bytes that are no such thing as hexadecimal digits. */
function readId({ subtype, id }: LldpId, types: Readonly<Record<number, NeighborIdType>>): {
  readonly type: NeighborIdType; readonly text: string;
} {
  const type = types[subtype] ?? "local";
  if (type === "mac" && id.length === 6) return { type, text: formatMac(id) };
  const [family = 0] = id;
  const [address] = type === "network-address" ? ipOf(family, id.subarray(1)) : [];
  if (address !== undefined) return { type, text: address };
  if (type === "mac" || type === "network-address") return { type: "local", text: hexOf(id) };
  const text = cleanText(decodeUtf8(id));
  return { type, text: text === "" || text.includes("\ufffd") ? hexOf(id) : text };
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes.subarray(0, 64), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** IANA address families 1 and 2. */
function ipOf(family: number, address: Uint8Array): readonly string[] {
  const isIp = (family === 1 && address.length === 4) || (family === 2 && address.length === 16);
  return isIp ? [formatIp(address)] : [];
}

/** 1 to 5 stand for classes 0 to 4; beyond them 802.3bt keeps the class elsewhere. Tenths of a watt become milliwatts. */
function readPower({ support, powerClass, allocation }: LldpPower): NeighborPower {
  return {
    role: (support & POWER_SOURCE) === 0 ? "device" : "source",
    class: powerClass >= 1 && powerClass <= 5 ? powerClass - 1 : null,
    requested_milliwatts: allocation ? allocation.requested * 100 : null,
    allocated_milliwatts: allocation ? allocation.allocated * 100 : null,
  };
}
