import { type AddressPrefix, parseIp, parsePrefix, prefixHolds } from "@lanthorn/packets";
import type { Exception } from "../settings.ts";
import type { Sign } from "./sign.ts";

/** @param now Wall milliseconds. @returns Whether an exception that has not expired matches the sign. */
export function createExceptionMatcher(exceptions: readonly Exception[]): (sign: Sign, now: number) => boolean {
  const rows = exceptions.map(({ kind, ip, mac, until }) => ({
    kind, mac, prefix: ip === undefined ? null : parsePrefix(ip), until: until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until),
  }));
  return (sign, now) => rows.some(({ kind, mac, prefix, until }) =>
    now < until && (kind === undefined || kind === sign.kind) && (mac === undefined || mac === sign.mac) && (prefix === null || holds(prefix, sign.ip)));
}

function holds(prefix: AddressPrefix, ip: string): boolean {
  const bytes = parseIp(ip);
  return bytes !== null && prefixHolds(prefix, bytes, 0, bytes.length);
}
