import { parseIp, parsePrefix, prefixHolds } from "@lanthorn/packets";
import type { Exception } from "../settings.ts";
import type { Sign } from "./sign.ts";

/** @param now Wall milliseconds. @returns Whether an exception that has not expired matches the sign. */
export function createExceptionMatcher(exceptions: readonly Exception[]): (sign: Sign, now: number) => boolean {
  const rows = exceptions.flatMap(({ kind, ip, mac, until }) => {
    const prefix = ip === undefined ? null : parsePrefix(ip);
    // Of an address that cannot be read nothing is known: it excepts nothing.
    return ip !== undefined && prefix === null ? [] : [{ kind, mac, prefix, until: until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until) }];
  });
  return (sign, now) => {
    const bytes = rows.length > 0 ? parseIp(sign.ip) : null;
    return rows.some(({ kind, mac, prefix, until }) => now < until && (kind === undefined || kind === sign.kind) && (mac === undefined || mac === sign.mac)
      && (prefix === null || (bytes !== null && prefixHolds(prefix, bytes, 0, bytes.length))));
  };
}
