import { IPV6_LENGTH } from "../addresses.ts";
import { decoded, type Decoded } from "../decoded.ts";
import type { ExtensionHeader } from "./ipv6-extensions.ts";
import { requireLength, requireRange } from "../limits.ts";
import { IP_PROTOCOL } from "../numbers.ts";
import type { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";

/** RFC 3810 and RFC 2710: Multicast Listener Discovery, version 2 and version 1. */

/** ICMPv6 types. @see RFC 3810 section 5, RFC 2710 section 3 */
export const MLD_TYPE = { query: 130, report: 131, done: 132, version2Report: 143 } as const;

type MldType = (typeof MLD_TYPE)[keyof typeof MLD_TYPE];

/** Every message has this: else it came from beyond a router. @see RFC 3810 section 5 */
export const MLD_HOP_LIMIT = 1;

/** Router Alert for MLD, and padding: in front of every message. @see RFC 3810 section 5, RFC 2711 section 2.1 */
export const MLD_ROUTER_ALERT: ExtensionHeader = {
  type: IP_PROTOCOL.hopByHop, bytes: Uint8Array.of(IP_PROTOCOL.icmpv6, 0, 5, 2, 0, 0, 1, 0),
};

/** A query, report or done message of either version. Groups are IPv6 multicast addresses of sixteen bytes. */
export type MldMessage =
  | MldQuery
  | { readonly kind: "mld-report" | "mld-done"; readonly group: Uint8Array }
  | { readonly kind: "mld-version-2-report"; readonly records: readonly MldRecord[] };

/** A router's question which groups have listeners. @see RFC 3810 section 5.1 */
export interface MldQuery {
  readonly kind: "mld-query";
  /** At most 8,387,584. From 32,768 on only some numbers have an encoding: others are sent as the next lower one. */
  readonly maximumResponseDelayMs: number;
  /** The unspecified address for a general query, which asks for all groups. */
  readonly group: Uint8Array;
  /** Null in a query of version 1. */
  readonly version2: MldQueryVersion2 | null;
}

interface MldQueryVersion2 {
  /** Routers that hear it are not to start their timers anew. */
  readonly suppressesTimers: boolean;
  /** 0 to 7; 0 where the querier gives none. */
  readonly robustness: number;
  /** At most 31,744; as with the response delay, from 128 on some numbers only. */
  readonly queryIntervalSeconds: number;
  readonly sources: readonly Uint8Array[];
}

/** What a listener says of one group. */
export interface MldRecord {
  /** 1 and 2: is include, exclude; 3 and 4: changes to include, exclude; 5 and 6: allows new, blocks old sources. */
  readonly type: number;
  readonly group: Uint8Array;
  readonly sources: readonly Uint8Array[];
  /** In units of four bytes. */
  readonly auxiliaryData: Uint8Array;
}

/** @see RFC 3810 section 5.1: what is longer than a version 1 query is one of version 2. */
const VERSION_1_BODY = 20;

/** Whether an ICMPv6 type is one of MLD's four. */
export function isMldType(type: number): type is MldType {
  return (type >= MLD_TYPE.query && type <= MLD_TYPE.done) || type === MLD_TYPE.version2Report;
}

/** @param reader Behind type, code and checksum. */
export function readMld(reader: Reader, type: MldType): Decoded<MldMessage> {
  const message = readBody(reader, type);
  return reader.failed ? reader.malformed("mld") : decoded(message);
}

function readBody(reader: Reader, type: MldType): MldMessage {
  if (type === MLD_TYPE.version2Report) {
    reader.skip(2);
    const count = reader.u16();
    const records: MldRecord[] = [];
    while (records.length < count && !reader.failed) records.push(readRecord(reader));
    return { kind: "mld-version-2-report", records };
  }
  const isVersion2 = reader.remaining > VERSION_1_BODY;
  const code = reader.u16();
  reader.skip(2);
  const group = reader.take(IPV6_LENGTH);
  if (type !== MLD_TYPE.query) return { kind: type === MLD_TYPE.report ? "mld-report" : "mld-done", group };
  if (!isVersion2) return { kind: "mld-query", maximumResponseDelayMs: code, group, version2: null };
  const flags = reader.u8();
  const queryIntervalSeconds = fromFloating(reader.u8(), QUERY_INTERVAL);
  const sources = readAddresses(reader, reader.u16());
  const version2 = { suppressesTimers: (flags & 8) !== 0, robustness: flags & 7, queryIntervalSeconds, sources };
  return { kind: "mld-query", maximumResponseDelayMs: fromFloating(code, RESPONSE_DELAY), group, version2 };
}

function readRecord(reader: Reader): MldRecord {
  const type = reader.u8();
  const auxiliaryWords = reader.u8();
  const count = reader.u16();
  const group = reader.take(IPV6_LENGTH);
  return { type, group, sources: readAddresses(reader, count), auxiliaryData: reader.take(auxiliaryWords * 4) };
}

function readAddresses(reader: Reader, count: number): readonly Uint8Array[] {
  const addresses: Uint8Array[] = [];
  while (addresses.length < count && !reader.failed) addresses.push(reader.take(IPV6_LENGTH));
  return addresses;
}

/** Writes the whole message with a checksum of 0. */
export function writeMld(writer: Writer, message: MldMessage): void {
  switch (message.kind) {
    case "mld-query":
      writeQuery(writer, message);
      break;
    case "mld-report":
    case "mld-done":
      requireLength("mld.group", message.group, IPV6_LENGTH);
      writer.u8(message.kind === "mld-report" ? MLD_TYPE.report : MLD_TYPE.done).zeros(7).put(message.group);
      break;
    case "mld-version-2-report":
      requireRange("mld.records.length", message.records.length, 0, 0xffff);
      writer.u8(MLD_TYPE.version2Report).zeros(5).u16(message.records.length);
      for (const record of message.records) writeRecord(writer, record);
  }
}

function writeQuery(writer: Writer, { maximumResponseDelayMs, group, version2 }: MldQuery): void {
  const most = version2 === null ? 0xffff : mostFloating(RESPONSE_DELAY);
  requireRange("mld.maximumResponseDelayMs", maximumResponseDelayMs, 0, most);
  requireLength("mld.group", group, IPV6_LENGTH);
  writer.u8(MLD_TYPE.query).zeros(3);
  writer.u16(version2 === null ? maximumResponseDelayMs : toFloating(maximumResponseDelayMs, RESPONSE_DELAY)).u16(0).put(group);
  if (version2 === null) return;
  const { suppressesTimers, robustness, queryIntervalSeconds, sources } = version2;
  requireRange("mld.robustness", robustness, 0, 7);
  requireRange("mld.queryIntervalSeconds", queryIntervalSeconds, 0, mostFloating(QUERY_INTERVAL));
  writer.u8((suppressesTimers ? 8 : 0) | robustness).u8(toFloating(queryIntervalSeconds, QUERY_INTERVAL));
  writeAddresses(writer, "mld.sources", sources);
}

function writeRecord(writer: Writer, { type, group, sources, auxiliaryData }: MldRecord): void {
  requireRange("mld.record.type", type, 0, 0xff);
  requireLength("mld.record.group", group, IPV6_LENGTH);
  requireRange("mld.record.auxiliaryData.length in units of four bytes", auxiliaryData.length / 4, 0, 0xff);
  writer.u8(type).u8(auxiliaryData.length / 4).u16(sources.length).put(group);
  for (const source of sources) putAddress(writer, "mld.record.source", source);
  writer.put(auxiliaryData);
}

function writeAddresses(writer: Writer, name: string, addresses: readonly Uint8Array[]): void {
  requireRange(`${name}.length`, addresses.length, 0, 0xffff);
  writer.u16(addresses.length);
  for (const address of addresses) putAddress(writer, name, address);
}

function putAddress(writer: Writer, name: string, address: Uint8Array): void {
  requireLength(name, address, IPV6_LENGTH);
  writer.put(address);
}

/** A code whose highest bit says that three bits are an exponent and the others a mantissa. */
interface Floating {
  readonly mantissaBits: number;
}

/** @see RFC 3810 section 5.1.3 */
const RESPONSE_DELAY: Floating = { mantissaBits: 12 };
/** @see RFC 3810 section 5.1.9 */
const QUERY_INTERVAL: Floating = { mantissaBits: 4 };

function fromFloating(code: number, { mantissaBits }: Floating): number {
  if (code < 8 << mantissaBits) return code;
  const mantissa = (code & ((1 << mantissaBits) - 1)) | (1 << mantissaBits);
  return mantissa * 2 ** (((code >>> mantissaBits) & 7) + 3);
}

function toFloating(value: number, { mantissaBits }: Floating): number {
  if (value < 8 << mantissaBits) return value;
  const exponent = Math.floor(Math.log2(value)) - mantissaBits;
  const mantissa = Math.floor(value / 2 ** exponent) & ((1 << mantissaBits) - 1);
  return (8 << mantissaBits) | ((exponent - 3) << mantissaBits) | mantissa;
}

function mostFloating({ mantissaBits }: Floating): number {
  return ((1 << (mantissaBits + 1)) - 1) * 2 ** 10;
}
