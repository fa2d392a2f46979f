import type { NeighborPower } from "@lanthorn/contract/uplink";
import {
  type CdpAddress, cdpIpAddress, type CdpItem, type CdpPdu, CDP_CAPABILITIES, type FdpItem, type FdpPdu, formatIp,
} from "@lanthorn/packets";
import { cleanAddresses, cleanText, cleanVlans, emptyFacts, itemsOf, LIMITS, type NeighborFacts, wordsOf } from "./advert.ts";

/** CDP's capabilities in LLDP's words. */
const WORDS: Readonly<Record<(typeof CDP_CAPABILITIES)[number], string>> = {
  router: "router", "transparent-bridge": "bridge", "source-route-bridge": "bridge", switch: "bridge", host: "station", igmp: "",
  repeater: "repeater", phone: "telephone", "remotely-managed": "", cvta: "", "two-port-relay": "two-port-relay",
};
const FDP_WORDS: Readonly<Record<string, string>> = { router: "router", switch: "bridge", bridge: "bridge", repeater: "repeater" };

type TextKind = Extract<CdpItem, { readonly text: string }>["kind"];
type FdpTextKind = Extract<FdpItem, { readonly text: string }>["kind"];

/** Null when it names no device or no port: what says neither is no neighbor. A goodbye (time to live 0) needs no port. */
export function cdpFacts({ items, ttlSeconds }: CdpPdu): NeighborFacts | null {
  const text = (kind: TextKind, longest?: number) => cleanText(itemsOf(items, kind)[0]?.text ?? "", longest);
  const [chassis, port] = [text("device-id"), text("port-id")];
  if (chassis === "" || (port === "" && ttlSeconds > 0)) return null;
  const native = itemsOf(items, "native-vlan")[0]?.vlanId ?? 0;
  const voice = itemsOf(items, "voice-vlan-reply")[0]?.vlanId ?? 0;
  const bits = itemsOf(items, "capabilities")[0]?.bits ?? 0;
  const addresses = [...itemsOf(items, "management-addresses"), ...itemsOf(items, "addresses")].flatMap((item) => ipsOf(item.addresses));
  return {
    ...emptyFacts({ chassis_id: chassis, chassis_id_type: "local", port_id: port, port_id_type: "interface-name" }),
    port_description: port,
    system_name: text("system-name") || chassis,
    system_description: text("version", LIMITS.description),
    platform: text("platform"),
    capabilities: [...new Set(wordsOf(bits, CDP_CAPABILITIES.map((name) => WORDS[name])))],
    management_addresses: cleanAddresses(addresses),
    vlan_ids: cleanVlans([native, voice]),
    native_vlan: native > 0 && native < 4095 ? native : null,
    voice_vlan: voice > 0 && voice < 4095 ? voice : null,
    power: readPower(items),
  };
}

/** As CDP's. */
export function fdpFacts({ items, ttlSeconds }: FdpPdu): NeighborFacts | null {
  const text = (kind: FdpTextKind, longest?: number) => cleanText(itemsOf(items, kind)[0]?.text ?? "", longest);
  const [chassis, port] = [text("device-id"), text("port-id")];
  if (chassis === "" || (port === "" && ttlSeconds > 0)) return null;
  const word = FDP_WORDS[text("capability").toLowerCase()];
  return {
    ...emptyFacts({ chassis_id: chassis, chassis_id_type: "local", port_id: port, port_id_type: "interface-name" }),
    port_description: port,
    system_name: chassis,
    system_description: text("version", LIMITS.description),
    platform: text("platform"),
    capabilities: word === undefined ? ["station"] : [word],
    management_addresses: cleanAddresses(itemsOf(items, "addresses").flatMap((item) => ipsOf(item.addresses))),
  };
}

function ipsOf(addresses: readonly CdpAddress[]): readonly string[] {
  return addresses.flatMap((address) => {
    const ip = cdpIpAddress(address);
    return ip ? [formatIp(ip)] : [];
  });
}

/** What a powered device draws and asks for, or what a source has to give. */
function readPower(items: readonly CdpItem[]): NeighborPower | null {
  const available = itemsOf(items, "power-available")[0];
  const consumption = itemsOf(items, "power-consumption")[0]?.milliwatts ?? null;
  const requested = itemsOf(items, "power-requested")[0]?.levels[0] ?? consumption;
  if (available) return { role: "source", class: null, requested_milliwatts: null, allocated_milliwatts: null };
  return requested === null ? null : { role: "device", class: null, requested_milliwatts: requested, allocated_milliwatts: consumption };
}
