import { type BaselineFactKind, Id, parseMac } from "@lanthorn/contract";
import { addressKey } from "../../../db/keys/address-key.ts";
import { plainNetworks } from "../../../db/keys/plain-networks.ts";
import { MAX_SERVICE } from "../compare/service-text.ts";

interface Fact {
  readonly kind: BaselineFactKind;
  readonly key: string;
  readonly value: string;
}

/** Kinds of facts that a site has; all others are a device's. */
const OF_SITE: ReadonlySet<BaselineFactKind> = new Set(["device", "dhcp_server", "gateway", "dns_server"]);
const PORT = /^(?:tcp|udp)\/(?:[1-9]\d{0,4})$/;
const SERVER = /^(\S+?)(?: vlan (\d{1,4}))?$/;

/**
 * A fact that a person gave, as the comparison writes it: addresses and MACs in their one spelling.
 * @returns The fact, or what is wrong with it and where.
 */
export function plainFact<F extends Fact>(fact: F, of: "site" | "device"): { readonly fact: F } | { readonly path: "kind" | "key" | "value"; readonly message: string } {
  const { kind, key, value } = fact;
  if (kind === "presence") return { path: "kind", message: "presence is learned only; change `expected` of the device's baseline instead" };
  if (OF_SITE.has(kind) !== (of === "site")) return { path: "kind", message: `${kind} is a fact of a ${OF_SITE.has(kind) ? "site" : "device"}, and this is the baseline of a ${of}` };
  const plainKey = KEYS[kind](key);
  if (plainKey === null) return { path: "key", message: `must be ${KEY_FORMS[kind]}` };
  const plainValue = valueOf(kind, value);
  if (plainValue === null) return { path: "value", message: `must be ${OF_SITE.has(kind) ? "MAC addresses, with commas between them" : kind === "port" ? "`open`" : kind === "service" ? `a text of at most ${MAX_SERVICE} characters` : "a text"}` };
  return { fact: { ...fact, key: plainKey, value: plainValue } };
}

/** The key as it is stored, of a fact that is only named; as it came where it is none. */
export function plainKey(kind: BaselineFactKind, key: string): string {
  return kind === "presence" ? key : (KEYS[kind](key) ?? key);
}

const portKey = (key: string) => (PORT.test(key) && Number(key.slice(4)) < 65_536 ? key : null);
const serverKey = (key: string) => {
  const [, address = "", vlan] = SERVER.exec(key) ?? [];
  if (addressKey(address) === "" || address.includes("%") || Number(vlan ?? 1) > 4094) return null;
  return `${plainNetworks([address])[0]}${vlan === undefined ? "" : ` vlan ${Number(vlan)}`}`;
};

/** Makes keys plain; null for what is none. */
const KEYS: Readonly<Record<Exclude<BaselineFactKind, "presence">, (key: string) => string | null>> = {
  port: portKey, service: portKey, host_key: portKey, certificate: (key) => (key === "tls" ? key : null),
  device: (key) => (Id.safeParse(key).success ? key : null),
  dhcp_server: serverKey, gateway: serverKey, dns_server: serverKey, neighbor: (key) => key,
};

const SERVER_FORM = "an address, with its VLAN where it has one, as `10.0.0.1` or `10.0.0.1 vlan 20`";
const PORT_FORM = "a protocol and a port, as `tcp/22`";
const KEY_FORMS: Readonly<Record<Exclude<BaselineFactKind, "presence">, string>> = {
  port: PORT_FORM, service: PORT_FORM, host_key: PORT_FORM, certificate: "`tls`", device: "the id of a device",
  dhcp_server: SERVER_FORM, gateway: SERVER_FORM, dns_server: SERVER_FORM, neighbor: "a port of the device",
};

function valueOf(kind: BaselineFactKind, value: string): string | null {
  if (kind === "port") return value === "open" ? value : null;
  // What is observed is never longer.
  if (kind === "service" && value.length > MAX_SERVICE) return null;
  if (!OF_SITE.has(kind) || kind === "device") return value === "" && kind !== "device" ? null : value;
  // A server behind a router has no MAC address here.
  if (value === "" && kind === "dns_server") return value;
  const macs = value.split(",").map((one) => parseMac(one));
  return macs.every((mac) => mac !== null) ? [...new Set(macs)].toSorted().join(", ") : null;
}
