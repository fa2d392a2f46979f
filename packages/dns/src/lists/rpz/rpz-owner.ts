/** Owners of a policy zone's records: what they are compared with. @see draft-vixie-dnsop-dns-rpz section 4 */
import { type AddressPrefix, createPrefix, equalBytes, parseIp } from "@lanthorn/packets";
import type { ListRule } from "../list-rule.ts";
import { parseHostName, prefixKey } from "../../names/name-key.ts";

const ADDRESS_TRIGGERS: Readonly<Record<string, "client-ip" | "ip" | "nsip">> = { "rpz-client-ip": "client-ip", "rpz-ip": "ip", "rpz-nsip": "nsip" };

/** @param owner Below the zone, in lower case, without a dot at the end. @returns A reason where it is no trigger. */
export function parseRpzOwner(owner: string): Pick<ListRule, "trigger" | "key" | "scope"> | string {
  const dot = owner.lastIndexOf(".");
  const [front, last] = [dot < 0 ? "" : owner.slice(0, dot), owner.slice(dot + 1)];
  const trigger = Object.hasOwn(ADDRESS_TRIGGERS, last) ? ADDRESS_TRIGGERS[last] : undefined;
  if (trigger !== undefined) {
    const prefix = parseRpzPrefix(front);
    return prefix === null ? "is no network as RPZ writes it" : { trigger, key: prefixKey(prefix), scope: "exact" };
  }
  if (last === "rpz-nsdname") return parseTriggerName("nsdname", front);
  return last.startsWith("rpz-") ? "is a trigger that is unknown" : parseTriggerName("qname", owner);
}

function parseTriggerName(trigger: "qname" | "nsdname", text: string): Pick<ListRule, "trigger" | "key" | "scope"> | string {
  if (text === "*") return { trigger, key: new Uint8Array(0), scope: "subdomains" };
  const isWildcard = text.startsWith("*.");
  const key = parseHostName(isWildcard ? text.slice(2) : text);
  return key === null ? "is no name of a host" : { trigger, key, scope: isWildcard ? "subdomains" : "exact" };
}

/** `24.0.2.0.192` is 192.0.2.0/24; of IPv6 the groups stand backwards too, and `zz` for `::`. */
function parseRpzPrefix(text: string): AddressPrefix | null {
  const [length = "", ...parts] = text.split(".");
  const isIpv4 = parts.length === 4 && !parts.includes("zz");
  const groups = parts.toReversed();
  const address = parseIp(isIpv4 ? groups.join(".") : joinGroups(groups));
  if (!address || address.length !== (isIpv4 ? 4 : 16) || !/^[1-9]\d{0,2}$/.test(length) || Number(length) > address.length * 8) return null;
  const prefix = createPrefix(address, Number(length));
  return equalBytes(prefix.bytes, address) ? prefix : null;
}

function joinGroups(groups: readonly string[]): string {
  const at = groups.indexOf("zz");
  return at < 0 ? groups.join(":") : `${groups.slice(0, at).join(":")}::${groups.slice(at + 1).join(":")}`;
}
