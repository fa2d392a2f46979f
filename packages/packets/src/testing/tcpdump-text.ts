/** What tcpdump prints of LLDP and CDP, from frames as we decode them. For tests only. */
import { formatIp, formatMac } from "../addresses.ts";
import { type CdpItem, CDP_CAPABILITIES, decodeCdp } from "../neighbors/cdp.ts";
import { cdpIpAddress, readCdpEnvelope } from "../neighbors/cdp-tlvs.ts";
import { LLDP_CHASSIS_SUBTYPE, LLDP_PORT_SUBTYPE, type LldpId, type LldpItem, type LldpManagementAddress, readLldpTlv } from "../neighbors/lldp.ts";
import type { LldpPower } from "../neighbors/lldp-dot3.ts";
import { LLDP_INVENTORY_FIELDS } from "../neighbors/lldp-med.ts";
import { LLDP_TLV, type LldpTlv } from "../neighbors/lldp-tlvs.ts";

/** One TLV in tcpdump's words: what it is, and what it says. Null where we keep bytes only. */
export interface TlvText {
  readonly head: string;
  readonly lines: readonly string[] | null;
  /** Null where tcpdump prints none. */
  readonly hex: string | null;
}

const TLV_NAMES: Readonly<Record<number, string>> = {
  1: "Chassis ID", 2: "Port ID", 3: "Time to Live", 4: "Port Description", 5: "System Name", 6: "System Description",
  7: "System Capabilities", 8: "Management Address", 127: "Organization specific",
};

const CHASSIS_NAMES = invert(LLDP_CHASSIS_SUBTYPE);
const PORT_NAMES = invert(LLDP_PORT_SUBTYPE);
const ID_WORDS: Readonly<Record<string, string>> = {
  component: "Chassis component", portComponent: "Port component", interfaceAlias: "Interface alias", mac: "MAC address",
  networkAddress: "Network address", interfaceName: "Interface Name", agentCircuit: "Agent circuit ID", local: "Local",
};
const CAPABILITY_WORDS = ["Other", "Repeater", "Bridge", "WLAN AP", "Router", "Telephone", "Docsis", "Station Only"];
const NUMBERINGS: Readonly<Record<number, string>> = { 1: "Unknown", 2: "Interface Index", 3: "System Port Number" };
const MED_CAPABILITIES = [
  "LLDP-MED capabilities", "network policy", "location identification", "extended power via MDI-PSE", "extended power via MDI-PD",
  "Inventory",
];
const MED_DEVICES = ["unknown", "endpoint class 1", "endpoint class 2", "endpoint class 3", "network connectivity"];
const MED_LOCATIONS: Readonly<Record<number, string>> = { 1: "coordinate-based LCI", 2: "civic address LCI", 3: "ECS ELIN" };
const INVENTORY_WORDS = [
  "hardware revision", "firmware revision", "software revision", "serial number", "manufacturer name", "model name", "asset ID",
];

function invert(table: Readonly<Record<string, number>>): ReadonlyMap<number, string> {
  return new Map(Object.entries(table).map(([name, value]) => [value, name]));
}

/** Control characters and bytes above 127 as tcpdump makes them visible. */
function visible(bytes: Uint8Array): string {
  return [...bytes].map((byte) => {
    const low = byte & 0x7f;
    const shown = low < 0x20 || low === 0x7f ? `^${String.fromCharCode(low ^ 0x40)}` : String.fromCharCode(low);
    return byte > 0x7f ? `M-${shown}` : shown;
  }).join("");
}

const visibleText = (text: string) => visible(Buffer.from(text, "utf8"));
const hex = (value: number, digits: number) => `0x${value.toString(16).padStart(digits, "0")}`;
const flags = (value: number, names: readonly string[]) =>
  names.filter((name, bit) => name !== "" && (value & (1 << bit)) !== 0).join(", ") || "none";

/** One TLV as `tcpdump -v` prints it: head line, lines below it, and its bytes in hexadecimal but for the last TLV. */
export function lldpText(tlv: LldpTlv): TlvText {
  const name = TLV_NAMES[tlv.type];
  const head = `${name ? `${name} TLV` : "Unknown TLV"} (${tlv.type}), length ${tlv.value.length}`;
  return { head, lines: itemLines(readLldpTlv(tlv)), hex: tlv.type === LLDP_TLV.end ? null : Buffer.from(tlv.value).toString("hex") };
}

function itemLines(item: LldpItem): readonly string[] | null {
  switch (item.kind) {
    case "chassis-id":
      return [`Subtype ${idText(item.value, CHASSIS_NAMES)}`];
    case "port-id":
      return [`Subtype ${idText(item.value, PORT_NAMES)}`];
    case "time-to-live":
      return [`TTL ${item.seconds}s`];
    case "port-description":
    case "system-name":
    case "system-description":
      return [visibleText(item.text)];
    case "system-capabilities":
      return [`System  Capabilities [${flags(item.supported, CAPABILITY_WORDS)}] (${hex(item.supported, 4)})`,
        `Enabled Capabilities [${flags(item.enabled, CAPABILITY_WORDS)}] (${hex(item.enabled, 4)})`];
    case "management-address":
      return managementLines(item);
    case "port-vlan":
      return ["Port VLAN Id Subtype (1)", `port vlan id (PVID): ${item.vlanId}`];
    case "protocol-vlan":
      return ["Port and Protocol VLAN ID Subtype (2)",
        `port and protocol vlan id (PPVID): ${item.vlanId}, flags [${flags(item.flags, ["", "supported", "enabled"])}] `
          + `(${hex(item.flags, 2)})`];
    case "vlan-name":
      return ["VLAN name Subtype (3)", `vlan id (VID): ${item.vlanId}`, `vlan name: ${item.name}`];
    case "protocol-identity":
      // Behind it: bytes, which are compared as such.
      return null;
    case "link-aggregation":
      return [`Link aggregation Subtype (${item.organization === "802.1" ? 7 : 3})`,
        `aggregation status [${flags(item.status, ["supported", "enabled"])}], aggregation port ID ${item.portId}`];
    case "mac-phy":
      return ["MAC/PHY configuration/status Subtype (1)",
        `autonegotiation [${flags(item.autonegotiation, ["supported", "enabled"])}] (${hex(item.autonegotiation, 2)})`,
        `PMD autoneg capability (${hex(item.advertised, 4)})`, `MAU type (${hex(item.mauType, 4)})`];
    case "power":
      return ["Power via MDI Subtype (2)", powerText(item)];
    case "maximum-frame-size":
      return ["Max frame size Subtype (4)", `MTU size ${item.octets}`];
    case "med-capabilities":
      return ["LLDP-MED Capabilities Subtype (1)", `Media capabilities [${flags(item.capabilities, MED_CAPABILITIES)}] `
        + `(${hex(item.capabilities, 4)})`,
        `Device type [${MED_DEVICES[item.deviceType]}] (${hex(item.deviceType, 2)})`];
    case "med-network-policy":
      return ["Network policy Subtype (2)", `Application type [${item.application === 1 ? "voice" : ""}] (${hex(item.application, 2)}), `
        + `Flags [none]`,
        `Vlan id ${item.vlanId}, L2 priority ${item.priority}, DSCP value ${item.dscp}`];
    case "med-location":
      return ["Location identification Subtype (3)", `Location data format ${MED_LOCATIONS[item.format]} (${hex(item.format, 2)})`];
    case "med-inventory":
      return inventoryLines(LLDP_INVENTORY_FIELDS.indexOf(item.field), item.text);
    case "med-power":
    case "organizational":
    case "unknown":
    default:
      return null;
  }
}

function idText({ subtype, id }: LldpId, names: ReadonlyMap<number, string>): string {
  const name = names.get(subtype) ?? "";
  return `${ID_WORDS[name]} (${subtype}): ${idValue(name, id)}`;
}

function idValue(name: string, id: Uint8Array): string {
  if (name === "mac") return formatMac(id);
  if (name === "networkAddress") return `AFI IPv${id[0] === 1 ? 4 : 6} (${id[0]}): ${formatIp(id.subarray(1))}`;
  return visible(id);
}

function managementLines({ family, address, numbering, interfaceNumber }: LldpManagementAddress): readonly string[] {
  const name = family === 1 ? "IPv4" : "IPv6";
  return [`Management Address length ${address.length + 1}, AFI ${name} (${family}): ${formatIp(address)}`,
    `${NUMBERINGS[numbering]} Interface Numbering (${numbering}): ${interfaceNumber}`];
}

function powerText({ support, pair, powerClass }: LldpPower): string {
  const words = flags(support, ["PSE", "supported", "enabled", "can be controlled"]);
  return `MDI power support [${words}], power pair ${pair === 1 ? "signal" : "spare"}, power class class${powerClass - 1}`;
}

function inventoryLines(index: number, text: string): readonly string[] {
  const words = INVENTORY_WORDS[index] ?? "";
  return [
    `Inventory - ${words} Subtype (${index + 5})`,
    `${words.charAt(0).toUpperCase()}${words.slice(1)} ${visibleText(text.replace(/\0.*/s, ""))}`,
  ];
}

const CDP_NAMES: Readonly<Record<CdpItem["kind"], string>> = {
  "device-id": "Device-ID", addresses: "Address", "port-id": "Port-ID", capabilities: "Capability", version: "Version String",
  platform: "Platform", "vtp-domain": "VTP Management Domain", "native-vlan": "Native VLAN ID", duplex: "Duplex",
  "voice-vlan-reply": "ATA-186 VoIP VLAN assignment", "voice-vlan-query": "ATA-186 VoIP VLAN request",
  "power-consumption": "power consumption", mtu: "MTU", "system-name": "System Name",
  "management-addresses": "Management Addresses", "power-requested": "", "power-available": "", unknown: "",
};
const CDP_CAPABILITY_WORDS: Readonly<Record<(typeof CDP_CAPABILITIES)[number], string>> = {
  router: "Router", "transparent-bridge": "TB Bridge", "source-route-bridge": "SR Bridge", switch: "L2 Switch", host: "L3 capable",
  igmp: "IGMP snooping", repeater: "L1 capable", phone: "", "remotely-managed": "", cvta: "", "two-port-relay": "",
};

/** What we keep as bytes, and tcpdump has a name for. */
const CDP_BYTES: Readonly<Record<number, string>> = {
  0x08: "Protocol-Hello option", 0x12: "AVVID trust bitmap", 0x13: "AVVID untrusted ports CoS",
};

/** A frame's header, then each TLV as tcpdump prints it. Null when we call it malformed. */
export function cdpText(bytes: Uint8Array): readonly TlvText[] | null {
  const pdu = decodeCdp(bytes);
  const envelope = readCdpEnvelope(bytes, "cdp");
  if (!pdu.ok || !envelope.ok) return null;
  const { version, ttlSeconds, checksum, items } = pdu.value;
  const head = { head: `CDPv${version}, ttl: ${ttlSeconds}s, checksum: ${hex(checksum, 4)}`, lines: [], hex: null };
  const tlvs = envelope.value.tlvs.map(({ type, value }, index): TlvText => {
    const item = items[index] as CdpItem;
    const name = CDP_NAMES[item.kind] || (CDP_BYTES[type] ?? "unknown field type");
    const lines = cdpValue(item) ?? (type === 0x08 ? [] : type === 0x12 || type === 0x13 ? [hex(value[0] ?? 0, 2)] : null);
    const head = `${name} (${hex(type, 2)}), value length: ${value.length} byte${value.length === 1 ? "" : "s"}:`;
    return { head, lines, hex: Buffer.from(value).toString("hex") };
  });
  return [head, ...tlvs];
}

function cdpValue(item: CdpItem): readonly string[] | null {
  switch (item.kind) {
    case "device-id":
    case "port-id":
    case "platform":
    case "vtp-domain":
    case "system-name":
      return [`'${visibleText(item.text)}'`];
    case "version":
      return item.text.split("\n");
    case "addresses":
    case "management-addresses":
      // The number is how many are still to come.
      return [
        item.addresses.map((one, index, { length }) => `IPv4 (${length - index}) ${formatIp(cdpIpAddress(one) ?? one.address)}`).join(" "),
      ];
    case "capabilities":
      return [`(${hex(item.bits, 8)}): ${flags(item.bits, CDP_CAPABILITIES.map((name) => CDP_CAPABILITY_WORDS[name]))}`];
    case "native-vlan":
      return [String(item.vlanId)];
    case "duplex":
      return [item.isFull ? "full" : "half"];
    case "voice-vlan-reply":
    case "voice-vlan-query":
    case "power-consumption":
    case "mtu":
    case "power-requested":
    case "power-available":
    case "unknown":
    default:
      return null;
  }
}
