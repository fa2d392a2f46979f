/** What the engine gives for a rule that matched. */

import { formatIp } from "@lanthorn/packets";
import type { FlowKey } from "@lanthorn/traffic";
import type { Direction } from "../applications/application.ts";
import type { GroupPlace } from "../inspection/match-rule.ts";
import type { Rule } from "../rules/rule.ts";

/** Where a rule's contents are in one buffer: from the first byte that matched. */
export interface AlertPlace {
  readonly buffer: string;
  /** In the buffer as it was inspected: a payload, a chunk of a stream, a header. */
  readonly offset: number;
  /** Up to the end of the last match. */
  readonly length: number;
  /** A copy of at most `MAX_PLACE_BYTES`. */
  readonly bytes: Uint8Array;
}

/** One end of the traffic that matched, as the packet had it. */
export interface AlertEnd {
  readonly ip: string;
  /** -1 without ports. */
  readonly port: number;
}

/** A rule matched. */
export interface IdsAlert {
  /** Captured time in microseconds. */
  readonly at: number;
  /** The frame in which it was noticed, from 1; 0 where it was at the end of a flow. */
  readonly frameNumber: number;
  readonly rule: Rule;
  readonly direction: Direction;
  readonly flow: FlowKey;
  readonly source: AlertEnd;
  readonly destination: AlertEnd;
  /** `""` where none was recognized. */
  readonly application: string;
  /** What the transaction says of itself, and what the rule's expressions kept. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly places: readonly AlertPlace[];
  /** The rule would have blocked it; `rate_filter` may say so of one that would not. */
  readonly wouldBlock: boolean;
}

/** Enough to see what it was. */
const MAX_PLACE_BYTES = 256;

/** @returns Where the groups matched, with copies of the bytes. */
export function alertPlaces(places: readonly GroupPlace[]): readonly AlertPlace[] {
  const shown: AlertPlace[] = [];
  for (const { buffer, bytes, starts, ends } of places) {
    if (bytes === null) continue;
    const offset = firstOf(starts);
    const end = Math.max(offset, ...ends);
    shown.push({ buffer, offset, length: end - offset, bytes: bytes.slice(offset, Math.min(end, offset + MAX_PLACE_BYTES)) });
  }
  return shown;
}

/** The least of those that are there; 0 where none is. */
function firstOf(starts: readonly number[]): number {
  let first = -1;
  for (const start of starts) if (start >= 0 && (first < 0 || start < first)) first = start;
  return Math.max(first, 0);
}

const IPV6_OCTETS = 16;

/** @returns An address as text. */
export function addressText({ isIpv4, ipv4, ipv6 }: { readonly isIpv4: boolean; readonly ipv4: number; readonly ipv6: bigint }): string {
  if (isIpv4) return `${ipv4 >>> 24}.${(ipv4 >>> 16) & 0xff}.${(ipv4 >>> 8) & 0xff}.${ipv4 & 0xff}`;
  return formatIp(Uint8Array.from({ length: IPV6_OCTETS }, (_, at) => Number((ipv6 >> BigInt((IPV6_OCTETS - 1 - at) * 8)) & 0xffn)));
}
