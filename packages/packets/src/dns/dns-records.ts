/** What DNS records hold, by their type. */
import { IPV4_LENGTH, IPV6_LENGTH } from "../addresses.ts";
import { badValue, type Malformed } from "../decoded.ts";
import type { DnsNameReader, DnsNameWriter } from "./dns-name.ts";
import { readTypeBitmap, writeTypeBitmap } from "./dns-type-bitmap.ts";
import { requireLength, requireRange } from "../limits.ts";
import type { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";

/** Record types. @see https://www.iana.org/assignments/dns-parameters */
export const DNS_TYPE = {
  a: 1, ns: 2, cname: 5, soa: 6, ptr: 12, mx: 15, txt: 16, aaaa: 28, srv: 33, opt: 41, nsec: 47, svcb: 64, https: 65, any: 255,
} as const;

/** Classes of records; `none` and `any` stand in queries and updates only. @see RFC 1035 section 3.2.4, RFC 2136 section 2.4 */
export const DNS_CLASS = { internet: 1, none: 254, any: 255 } as const;

/** A record's data. Bytes are views of the message; names are texts as `dns-name.ts` writes them. */
export type DnsData =
  /** A and AAAA: four or sixteen bytes. RFC 1035 section 3.4.1, RFC 3596 section 2.2. */
  | { readonly kind: "address"; readonly address: Uint8Array }
  /** NS, CNAME, PTR. RFC 1035 section 3.3. */
  | { readonly kind: "name"; readonly name: string }
  /** RFC 1035 section 3.3.13; times are seconds. */
  | {
      readonly kind: "soa";
      readonly mname: string;
      readonly rname: string;
      readonly serial: number;
      readonly refresh: number;
      readonly retry: number;
      readonly expire: number;
      readonly minimum: number;
    }
  /** RFC 1035 section 3.3.9. */
  | { readonly kind: "mx"; readonly preference: number; readonly exchange: string }
  /** Each of at most 255 bytes. RFC 1035 section 3.3.14. */
  | { readonly kind: "txt"; readonly strings: readonly Uint8Array[] }
  /** RFC 2782. */
  | { readonly kind: "srv"; readonly priority: number; readonly weight: number; readonly port: number; readonly target: string }
  /** Types that the name has, rising. RFC 4034 section 4.1; in mDNS `nextName` is the record's own, RFC 6762 section 6.1. */
  | { readonly kind: "nsec"; readonly nextName: string; readonly types: readonly number[] }
  /** SVCB and HTTPS: where a service is, and what it speaks; parameters by rising key. Priority 0 is an alias. RFC 9460 section 2. */
  | { readonly kind: "svcb"; readonly priority: number; readonly target: string; readonly parameters: readonly ServiceParameter[] }
  /** The rest of EDNS is in the record's class and TTL: see `dnsEdns`. RFC 6891 section 6.1.2. */
  | { readonly kind: "opt"; readonly options: readonly EdnsOption[] }
  /** Any other type, another class's addresses, and no data at all, as in updates of RFC 2136. */
  | { readonly kind: "bytes"; readonly bytes: Uint8Array };

/** One option of an OPT record; `value` is what follows code and length. @see RFC 6891 section 6.1.2 */
export interface EdnsOption {
  readonly code: number;
  readonly value: Uint8Array;
}

/** `value` is the wire format of RFC 9460 section 7: `ipv4hint` is addresses behind each other. */
export interface ServiceParameter {
  readonly key: number;
  readonly value: Uint8Array;
}

/** @see RFC 9460 section 14.3.2, RFC 9461 section 5 */
export const SERVICE_PARAMETER = { alpn: 1, port: 3, ipv4Hint: 4, ipv6Hint: 6, dohPath: 7 } as const;

/**
 * @param reader Over the message, limited to the data and at its start. Data that is not used up is `bad-value`.
 * @param readName Of the message.
 */
export function readDnsData(reader: Reader, readName: DnsNameReader, type: number, recordClass: number): DnsData | Malformed {
  if (reader.remaining === 0) return { kind: "bytes", bytes: reader.rest() };
  const data = readByType(reader, readName, type, recordClass);
  if ("ok" in data) return data;
  if (reader.failed) return reader.malformed("dns");
  return reader.remaining > 0 ? badValue("dns", reader.offset) : data;
}

function readByType(reader: Reader, readName: DnsNameReader, type: number, recordClass: number): DnsData | Malformed {
  const isInternet = recordClass === DNS_CLASS.internet;
  switch (type) {
    case DNS_TYPE.a:
      return isInternet ? { kind: "address", address: reader.take(IPV4_LENGTH) } : { kind: "bytes", bytes: reader.rest() };
    case DNS_TYPE.aaaa:
      return isInternet ? { kind: "address", address: reader.take(IPV6_LENGTH) } : { kind: "bytes", bytes: reader.rest() };
    case DNS_TYPE.ns:
    case DNS_TYPE.cname:
    case DNS_TYPE.ptr: {
      const name = readName(reader);
      return typeof name === "string" ? { kind: "name", name } : name;
    }
    case DNS_TYPE.soa:
      return readSoa(reader, readName);
    case DNS_TYPE.mx: {
      const preference = reader.u16();
      const exchange = readName(reader);
      return typeof exchange === "string" ? { kind: "mx", preference, exchange } : exchange;
    }
    case DNS_TYPE.txt:
      return { kind: "txt", strings: readStrings(reader) };
    case DNS_TYPE.srv: {
      const [priority, weight, port] = [reader.u16(), reader.u16(), reader.u16()];
      const target = readName(reader);
      return typeof target === "string" ? { kind: "srv", priority, weight, port, target } : target;
    }
    case DNS_TYPE.nsec: {
      const nextName = readName(reader);
      if (typeof nextName !== "string") return nextName;
      const types = readTypeBitmap(reader);
      return "ok" in types ? types : { kind: "nsec", nextName, types };
    }
    case DNS_TYPE.svcb:
    case DNS_TYPE.https:
      return readService(reader, readName);
    case DNS_TYPE.opt:
      return { kind: "opt", options: readEdnsOptions(reader) };
    default:
      return { kind: "bytes", bytes: reader.rest() };
  }
}

function readSoa(reader: Reader, readName: DnsNameReader): DnsData | Malformed {
  const mname = readName(reader);
  if (typeof mname !== "string") return mname;
  const rname = readName(reader);
  if (typeof rname !== "string") return rname;
  const [serial, refresh, retry, expire, minimum] = [reader.u32(), reader.u32(), reader.u32(), reader.u32(), reader.u32()];
  return { kind: "soa", mname, rname, serial, refresh, retry, expire, minimum };
}

function readService(reader: Reader, readName: DnsNameReader): DnsData | Malformed {
  const priority = reader.u16();
  const target = readName(reader);
  if (typeof target !== "string") return target;
  const parameters: ServiceParameter[] = [];
  while (reader.remaining > 0 && !reader.failed) {
    const at = reader.offset;
    const key = reader.u16();
    const value = reader.take(reader.u16());
    // Section 2.2: keys rise, each at most once.
    if (!reader.failed && key <= (parameters.at(-1)?.key ?? -1)) return badValue("dns", at);
    parameters.push({ key, value });
  }
  return { kind: "svcb", priority, target, parameters };
}

function readStrings(reader: Reader): readonly Uint8Array[] {
  const strings: Uint8Array[] = [];
  while (reader.remaining > 0 && !reader.failed) strings.push(reader.take(reader.u8()));
  return strings;
}

function readEdnsOptions(reader: Reader): readonly EdnsOption[] {
  const options: EdnsOption[] = [];
  while (reader.remaining > 0 && !reader.failed) options.push({ code: reader.u16(), value: reader.take(reader.u16()) });
  return options;
}

/**
 * Appends a record's data, without its length. Names of types younger than RFC 1035 are not compressed.
 * @throws PacketsError for a field that has no encoding.
 */
export function writeDnsData(writer: Writer, names: DnsNameWriter, data: DnsData, type: number): void {
  switch (data.kind) {
    case "address":
      requireLength("dns.address", data.address, type === DNS_TYPE.a ? IPV4_LENGTH : IPV6_LENGTH);
      writer.put(data.address);
      return;
    case "name":
      return names.write(data.name, true);
    case "soa":
      names.write(data.mname, true);
      names.write(data.rname, true);
      for (const field of ["serial", "refresh", "retry", "expire", "minimum"] as const) {
        requireRange(`dns.soa.${field}`, data[field], 0, 0xffff_ffff);
        writer.u32(data[field]);
      }
      return;
    case "mx":
      writeU16(writer, "dns.mx.preference", data.preference);
      return names.write(data.exchange, true);
    case "txt":
      requireRange("dns.txt.strings.length", data.strings.length, 1, 0xffff);
      for (const string of data.strings) {
        requireRange("dns.txt.string.length", string.length, 0, 0xff);
        writer.u8(string.length).put(string);
      }
      return;
    case "srv":
      for (const field of ["priority", "weight", "port"] as const) writeU16(writer, `dns.srv.${field}`, data[field]);
      return names.write(data.target, false);
    case "nsec":
      names.write(data.nextName, false);
      return writeTypeBitmap(writer, data.types);
    case "svcb":
      writeU16(writer, "dns.svcb.priority", data.priority);
      names.write(data.target, false);
      for (const { key, value } of data.parameters) {
        writeU16(writer, "dns.svcb.key", key);
        writeU16(writer, "dns.svcb.length", value.length);
        writer.put(value);
      }
      return;
    case "opt":
      for (const { code, value } of data.options) {
        writeU16(writer, "dns.opt.code", code);
        writeU16(writer, "dns.opt.length", value.length);
        writer.put(value);
      }
      return;
    case "bytes":
      writer.put(data.bytes);
  }
}

function writeU16(writer: Writer, name: string, value: number): void {
  requireRange(name, value, 0, 0xffff);
  writer.u16(value);
}
