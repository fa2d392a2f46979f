import { isIP } from "node:net";
import { classOf, plainAddress, prefixes } from "./address-classes.ts";

/** A webhook's URL, taken apart. */
export interface Target {
  readonly url: URL;
  /** The host's name in lower case without a final dot, or its address without brackets. */
  readonly host: string;
  /** The host where it is an address already. */
  readonly address: string | null;
}

/** Which receivers this deployment sends to. */
export interface TargetPolicy {
  /** Takes a URL apart. @returns In words why it can be no receiver, whatever it resolves to. */
  parse(text: string): Target | string;
  /**
   * Looks at every address that the target has now; one that is not allowed refuses them all, since the next connection might
   * go there.
   * @param addresses At least one, in any spelling.
   * @returns The addresses to connect to, or in words why not.
   */
  check(target: Target, addresses: readonly string[]): { readonly addresses: readonly string[] } | string;
}

const GUARDED_REFUSAL = "resolves to this machine, its link or its provider: only an entry of webhooks.allow for exactly that address allows it";
const PLAIN_REFUSAL = "must begin with https://: webhooks.allow does not list this host";

/** What `allow` may hold: a host's name, an address, or a prefix; no prefix of guarded addresses alone, which would open nothing. */
export function isAllowEntry(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (bits === undefined) return family !== 0 || /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?$/i.test(text);
  const length = Number(bits);
  const longest = family === 4 ? 32 : 128;
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits) || length > longest) return false;
  return length === longest || length < 8 || classOf(plainAddress(address) ?? "") !== "guarded";
}

/**
 * Without an entry: https to public addresses. A name, an address or a prefix in `allow` opens http, and private addresses. A
 * guarded address is opened by itself only: a prefix around it or a name that resolves to it was hardly meant so.
 * @param allow As `isAllowEntry` lets them through.
 */
export function createTargetPolicy(allow: readonly string[]): TargetPolicy {
  const names = new Set<string>();
  const exact = new Set<string>();
  const ranges: string[] = [];
  for (const entry of allow) {
    const [text = "", bits] = entry.split("/");
    const address = plainAddress(text);
    if (address === null) names.add(plainName(entry));
    else if (bits === undefined || Number(bits) === (isIP(text) === 4 ? 32 : 128)) exact.add(address);
    else ranges.push(entry);
  }
  const within = prefixes(ranges);
  const isNamed = (address: string) => exact.has(address) || within.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");

  const check: TargetPolicy["check"] = ({ url, host }, all) => {
    const isNamedHost = names.has(host);
    const addresses = all.map((text) => plainAddress(text) ?? "");
    for (const address of addresses) {
      const kind = address === "" ? "guarded" : classOf(address);
      // No address is named here: a tenant would learn what names mean inside the deployment's network.
      if (kind === "guarded" && !exact.has(address)) return GUARDED_REFUSAL;
      if (kind === "private" && !isNamedHost && !isNamed(address)) return "resolves to a private address that webhooks.allow does not list";
      if (url.protocol === "http:" && !isNamedHost && !isNamed(address)) return PLAIN_REFUSAL;
    }
    return addresses.length === 0 ? "has no address" : { addresses };
  };

  return {
    check,
    parse(text) {
      if (!URL.canParse(text) || /[\s\p{Cc}]/u.test(text)) return "must be an absolute URL";
      const url = new URL(text);
      if (url.protocol !== "https:" && (url.protocol !== "http:" || allow.length === 0)) return "must begin with https://";
      if (url.username !== "" || url.password !== "") return "must not contain a user name or a password: deliveries are signed instead";
      if (url.port === "0") return "must not name port 0";
      const host = plainName(url.hostname);
      if (host === "") return "must have a host";
      const address = plainAddress(host);
      const target = { url, host, address };
      // What is an address is judged here already: no answer of a name server can change it.
      const checked = address === null ? target : check(target, [address]);
      return typeof checked === "string" ? checked : target;
    },
  };
}

function plainName(host: string): string {
  return host.toLowerCase().replace(/^\[(.*)\]$/, "$1").replace(/(?<!\.)\.+$/, "");
}
