import { createPrefix, equalBytes, formatIpv6, formatMac, formatPrefix, type NdpOption, Reader, type RouterAdvertisement } from "@lanthorn/packets";
import type { GuardFrame } from "../guard.ts";
import { memoLast } from "../memo-last.ts";

/** What a router says of itself. Addresses and prefixes as text, sorted. */
export interface Advert {
  /** Its link-local address. */
  readonly router: string;
  readonly mac: string;
  readonly vlanId: number | null;
  /** 0: no default router. */
  readonly lifetimeSeconds: number;
  /** Prefixes that are no unique local ones, and unique local ones. */
  readonly prefixes: readonly string[];
  readonly localPrefixes: readonly string[];
  readonly dns: readonly string[];
  /** Routes with their preference, `fd00::/64 medium`. */
  readonly routes: readonly string[];
  /** Hosts send to it what has no other way: by its lifetime or by a route to everything. */
  readonly isDefault: boolean;
  /** `M` and `O` where they are set. */
  readonly flags: string;
  readonly preference: RouterAdvertisement["preference"];
  /** All of it that does not change while a router's settings stay. */
  readonly content: string;
  readonly packet: Uint8Array;
}

/** @see RFC 4191 section 2.3 */
const ROUTE_INFORMATION = 24;
const PREFERENCES = ["medium", "high", "reserved", "low"] as const;
const MAX_TEXTS = 32;

/** Routers repeat themselves: the last few frames, and what they say. */
const RECENT = 8;
const recent: { readonly bytes: Uint8Array; readonly advert: Advert }[] = [];
let oldest = 0;

/** @returns Null for a sender that no router can be: RFC 4861 section 6.1.2 asks for a link-local source. */
export const readAdvert = memoLast((message: RouterAdvertisement, at: GuardFrame): Advert | null => {
  const { bytes } = at.captured;
  const known = recent.find((one) => equalBytes(one.bytes, bytes));
  if (known) return { ...known.advert, packet: bytes };
  const advert = readNew(message, at);
  if (!advert) return null;
  const copy = bytes.slice();
  recent[oldest] = { bytes: copy, advert: { ...advert, packet: copy } };
  oldest = (oldest + 1) % RECENT;
  return advert;
});

function readNew(message: RouterAdvertisement, { captured, frame }: GuardFrame): Advert | null {
  const { sourceMac, sourceIp, vlanTags } = frame;
  if (!sourceMac || sourceIp?.length !== 16 || sourceIp[0] !== 0xfe || ((sourceIp[1] as number) & 0xc0) !== 0x80) return null;
  const { options, routerLifetimeSeconds: lifetimeSeconds } = message;
  const prefixes = options.flatMap((option) => (option.kind === "prefix-information" && option.prefixLength <= 128
    ? [formatPrefix(createPrefix(option.prefix, option.prefixLength))] : []));
  const dns = options.flatMap((option) => (option.kind === "recursive-dns-servers" && option.lifetimeSeconds > 0
    ? option.servers.map((server) => formatIpv6(server)) : []));
  const routes = options.flatMap(readRoute);
  const isLocal = (prefix: string) => /^f[cd]/.test(prefix);
  const said = {
    prefixes: sorted(prefixes.filter((prefix) => !isLocal(prefix))), localPrefixes: sorted(prefixes.filter((prefix) => isLocal(prefix))), dns: sorted(dns),
    routes: sorted(routes), flags: `${message.isManaged ? "M" : ""}${message.hasOtherConfiguration ? "O" : ""}`, preference: message.preference,
  };
  return {
    ...said, router: formatIpv6(sourceIp), mac: formatMac(sourceMac), vlanId: vlanTags.at(-1)?.vlanId || null, lifetimeSeconds,
    isDefault: lifetimeSeconds > 0 || routes.some((route) => route.startsWith("::/0 ")), content: contentOf(said), packet: captured.bytes,
  };
}

/** Whether it leads no traffic away, as a Thread border router, which shows hosts the way to its mesh alone. */
export function isHarmless({ isDefault, dns, prefixes }: Advert): boolean {
  return !isDefault && dns.length === 0 && prefixes.length === 0;
}

function contentOf({ prefixes, localPrefixes, dns, routes, flags, preference }: Omit<Advert, "router" | "mac" | "vlanId" | "lifetimeSeconds" | "isDefault" | "content" | "packet">): string {
  return JSON.stringify([prefixes, localPrefixes, dns, routes, flags, preference]);
}

/** Whether two routers give hosts different networks or name servers. What only one of them gives is no difference. */
export function isContradiction(a: Pick<Advert, "prefixes" | "dns">, b: Pick<Advert, "prefixes" | "dns">): boolean {
  return isDisjoint(a.prefixes, b.prefixes) || isDisjoint(a.dns, b.dns);
}

/** What an advertisement says, for the operator. */
export function advertFacts(advert: Advert): Readonly<Record<string, string>> {
  const { router, lifetimeSeconds, prefixes, localPrefixes, dns, routes, flags, preference } = advert;
  const facts = {
    router, lifetime_seconds: `${lifetimeSeconds}`, prefixes: [...prefixes, ...localPrefixes].join(" "), dns: dns.join(" "), routes: routes.join(", "), flags, preference,
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== ""));
}

function readRoute(option: NdpOption): readonly string[] {
  if (option.kind !== "unknown" || option.type !== ROUTE_INFORMATION) return [];
  const reader = new Reader(option.data);
  const length = reader.u8();
  const preference = PREFERENCES[(reader.u8() >>> 3) & 3] ?? "reserved";
  const lifetimeSeconds = reader.u32();
  const prefix = new Uint8Array(16);
  if (reader.failed || length > 128 || reader.remaining > 16 || reader.remaining * 8 < length || lifetimeSeconds === 0) return [];
  prefix.set(reader.rest());
  return [`${formatPrefix(createPrefix(prefix, length))} ${preference}`];
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted().slice(0, MAX_TEXTS);
}

function isDisjoint(a: readonly string[], b: readonly string[]): boolean {
  return a.length > 0 && b.length > 0 && !a.some((one) => b.includes(one));
}
