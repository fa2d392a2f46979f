import {
  DHCP_OPTION, dhcpDomainName, dhcpLeaseSeconds, type DhcpMessage, dhcpNameServers, dhcpRelayAgent, dhcpRouters, decodeUtf8, formatIpv4, parseIpv4, Reader,
} from "@lanthorn/packets";
import * as z from "zod";

const Texts = z.array(z.string().max(64)).max(16);

/** What a server gives to clients that decides where their traffic goes. Addresses as text, the preferred first. */
export const Handout = z.strictObject({
  /** Next hops of routes to everything, which clients prefer, then routers, then next hops of routes to nearly everything. @see RFC 3442 */
  gateways: Texts,
  dns: Texts,
  mask: z.string().max(64),
  /** Where to find the script that says which proxy a client uses; empty for none. */
  proxyScript: z.string().max(255).default(""),
});
export type Handout = z.infer<typeof Handout>;

/** Option codes beside those of RFC 2131's own. @see RFC 3442, RFC 2132 sections 9.4 and 9.5 */
const [CLASSLESS_ROUTES, MICROSOFT_ROUTES, PROXY_SCRIPT, BOOT_SERVER, BOOT_FILE] = [121, 249, 252, 66, 67];
/** A route so wide leads most traffic away: two halves stand for a default route (CVE-2024-3661). */
const WIDE_ROUTE_BITS = 8;
const DEFAULT_ROUTE_BITS = 1;
const MAX_ROUTES = 64;
const MAX_ADDRESSES = 16;
const MAX_SCRIPT = 255;

interface Route {
  readonly to: string;
  readonly length: number;
  readonly via: string;
}

/** Reads an answer that gives settings. @returns Null for one that gives neither gateway nor name server nor proxy. */
export function readHandout({ options }: DhcpMessage): Handout | null {
  const routers = (dhcpRouters(options) ?? []).map((bytes) => formatIpv4(bytes));
  const wide = readRoutes(options).filter(({ length, via }) => length <= WIDE_ROUTE_BITS && via !== "0.0.0.0");
  const first = wide.filter(({ length }) => length <= DEFAULT_ROUTE_BITS);
  const dns = (dhcpNameServers(options) ?? []).map((bytes) => formatIpv4(bytes));
  const mask = options.get(DHCP_OPTION.subnetMask);
  const gateways = [...new Set([...first.map(({ via }) => via), ...routers, ...wide.map(({ via }) => via)])].slice(0, MAX_ADDRESSES);
  const proxyScript = text(options.get(PROXY_SCRIPT)).slice(0, MAX_SCRIPT);
  if (gateways.length === 0 && dns.length === 0 && proxyScript === "") return null;
  return { gateways, dns: dns.slice(0, MAX_ADDRESSES), mask: mask?.length === 4 ? formatIpv4(mask) : "", proxyScript };
}

/** What an answer says, for the operator. Names without a value are left out. */
export function handoutFacts(message: DhcpMessage): Readonly<Record<string, string>> {
  const { options } = message;
  const handout = readHandout(message);
  const boot = [text(options.get(BOOT_SERVER)) || decodeUtf8(message.sname), text(options.get(BOOT_FILE)) || decodeUtf8(message.file)];
  const relay = dhcpRelayAgent(options);
  const facts = {
    gateway: handout?.gateways.join(" "), dns: handout?.dns.join(" "), subnet_mask: handout?.mask,
    lease_seconds: dhcpLeaseSeconds(options)?.toString(), domain: dhcpDomainName(options) ?? "",
    routes: readRoutes(options).map(({ to, length, via }) => `${to}/${length} via ${via}`).join(" "),
    proxy_script: handout?.proxyScript, boot_server: boot[0], boot_file: boot[1],
    relay_agent: relay ? [...relay].map(([code, value]) => `${code}=${Buffer.from(value).toString("hex")}`).join(" ") : "",
  };
  return Object.fromEntries(Object.entries(facts).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

/**
 * Whether two servers lead clients to different gateways or name servers. What only one of them gives is no difference. Of gateways the
 * preferred one counts: who names the right one behind his own leads clients to himself.
 */
export function isContradiction(a: Handout, b: Handout): boolean {
  return prefersAnother(a.gateways, b.gateways) || prefersAnother(b.gateways, a.gateways) || isDisjoint(a.dns, b.dns);
}

/** Whether two servers give addresses in one subnet, as far as they say. */
export function isOneSubnet(a: Handout, b: Handout): boolean {
  const mask = parseIpv4(a.mask) ?? parseIpv4(b.mask);
  const [one, other] = [parseIpv4(a.gateways[0] ?? ""), parseIpv4(b.gateways[0] ?? "")];
  return mask !== null && one !== null && other !== null && mask.every((bits, at) => (bits & ((one[at] ?? 0) ^ (other[at] ?? 0))) === 0);
}

/** Whether `handout` leads clients where `known` does not. What `known` does not give at all is no difference. */
export function goesBeyond(handout: Handout, known: Handout): boolean {
  return newOnes(handout.gateways, known.gateways).length > 0 || newOnes(handout.dns, known.dns).length > 0 || hasOtherProxy(handout, known);
}

/** Whether `handout` gives clients a proxy script that `known` does not. */
export function hasOtherProxy({ proxyScript }: Handout, known: Handout): boolean {
  return proxyScript !== "" && proxyScript !== known.proxyScript;
}

/** Those of `some` that `known` has not; none where `known` is empty. */
export function newOnes(some: readonly string[], known: readonly string[]): readonly string[] {
  return known.length === 0 ? [] : some.filter((one) => !known.includes(one));
}

/** Whether `handout` has anything that `known` has not: gateways, name servers, a proxy. */
export function hasMore(handout: Handout, known: Handout): boolean {
  return handout.gateways.some((one) => !known.gateways.includes(one)) || handout.dns.some((one) => !known.dns.includes(one)) || hasOtherProxy(handout, known);
}

/** Both together, `later` first. */
export function joinHandouts(earlier: Handout, later: Handout): Handout {
  const join = (key: "gateways" | "dns") => [...new Set([...later[key], ...earlier[key]])].slice(0, MAX_ADDRESSES);
  return { gateways: join("gateways"), dns: join("dns"), mask: later.mask || earlier.mask, proxyScript: later.proxyScript || earlier.proxyScript };
}

function prefersAnother([preferred]: readonly string[], others: readonly string[]): boolean {
  return preferred !== undefined && others.length > 0 && !others.includes(preferred);
}

function isDisjoint(a: readonly string[], b: readonly string[]): boolean {
  return a.length > 0 && b.length > 0 && !a.some((one) => b.includes(one));
}

/** Length, the significant bytes of the network, next hop. @see RFC 3442 */
function readRoutes(options: DhcpMessage["options"]): readonly Route[] {
  const value = options.get(CLASSLESS_ROUTES) ?? options.get(MICROSOFT_ROUTES);
  if (!value) return [];
  const reader = new Reader(value);
  const routes: Route[] = [];
  while (reader.remaining > 0 && routes.length < MAX_ROUTES) {
    const length = reader.u8();
    const network = new Uint8Array(4);
    if (length > 32) return [];
    network.set(reader.take((length + 7) >>> 3));
    const via = reader.take(4);
    if (reader.failed) return [];
    routes.push({ to: formatIpv4(network), length, via: formatIpv4(via) });
  }
  return routes;
}

/** Without the zeros that some servers fill an option up with. */
function text(value: Uint8Array | undefined): string {
  if (!value) return "";
  return decodeUtf8(value.subarray(0, value.findLastIndex((byte) => byte !== 0) + 1));
}
