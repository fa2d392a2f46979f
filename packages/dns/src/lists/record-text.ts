/** Records that lists answer with, as plain data that survives JSON. */
import { DNS_CLASS, DNS_TYPE, type DnsData, type DnsRecordFields, encodeUtf8, formatIp, parseIp } from "@lanthorn/packets";
import { MAX_KEY_LENGTH, writeTextKey } from "../names/name-key.ts";

/** A record without its name and class. */
export interface RecordText {
  readonly type: number;
  readonly ttlSeconds: number;
  readonly data: RecordData;
}

/** Names without a dot at the end, but `.` is the root. */
export type RecordData =
  /** Of A and AAAA, as RFC 5952 writes it. */
  | { readonly kind: "address"; readonly address: string }
  /** Of CNAME, NS and PTR. `*.` before the name of a CNAME stands for the whole name that was asked. */
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "mx"; readonly preference: number; readonly exchange: string }
  /** A character is a byte. */
  | { readonly kind: "txt"; readonly strings: readonly string[] }
  | { readonly kind: "srv"; readonly priority: number; readonly weight: number; readonly port: number; readonly target: string }
  /** Any other type, in hexadecimal. RFC 3597. */
  | { readonly kind: "bytes"; readonly hex: string };

/** Types by the names that lists use. @see https://www.iana.org/assignments/dns-parameters */
const TYPES: Readonly<Record<string, number>> = {
  A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, HINFO: 13, MX: 15, TXT: 16, AAAA: 28, LOC: 29, SRV: 33, NAPTR: 35, DNAME: 39, DS: 43, SSHFP: 44, RRSIG: 46, NSEC: 47,
  DNSKEY: 48, NSEC3: 50, NSEC3PARAM: 51, TLSA: 52, CDS: 59, CDNSKEY: 60, SVCB: 64, HTTPS: 65, SPF: 99, ANY: 255, CAA: 257,
};

const MAX_NUMBER = 0xffff;
/** As TXT records are written: RFC 1035 section 3.3. */
const MAX_STRING_LENGTH = 255;
/** A list's records are small; an answer of more bytes helps nobody but whoever floods. */
const MAX_DATA_LENGTH = 1024;

/** @returns The number of a type that is written by name or as RFC 3597's `TYPE64`, or null. */
export function parseRecordType(text: string): number | null {
  const name = text.toUpperCase();
  if (Object.hasOwn(TYPES, name)) return TYPES[name] as number;
  return name.startsWith("TYPE") ? parseNumber(name.slice(4)) : null;
}

/** A decimal number up to 65535. */
export function parseNumber(text: string): number | null {
  return /^\d{1,5}$/.test(text) && Number(text) <= MAX_NUMBER ? Number(text) : null;
}

/**
 * @param values The words behind the type, without quotes.
 * @param nameOf Makes a name of the text absolute; null where there is none.
 * @returns Null for what is no such record.
 */
export function parseRecordData(type: number, values: readonly string[], nameOf: (text: string) => string | null): RecordData | null {
  const [first = "", second = ""] = values;
  const name = nameOf(values.at(-1) ?? "");
  switch (type) {
    case DNS_TYPE.a:
    case DNS_TYPE.aaaa: {
      const address = values.length === 1 ? parseIp(first) : null;
      return address?.length === (type === DNS_TYPE.a ? 4 : 16) ? { kind: "address", address: formatIp(address) } : null;
    }
    case DNS_TYPE.ns:
    case DNS_TYPE.cname:
    case DNS_TYPE.ptr:
      return values.length === 1 && name !== null ? { kind: "name", name } : null;
    case DNS_TYPE.mx: {
      const preference = parseNumber(first);
      return values.length === 2 && preference !== null && name !== null ? { kind: "mx", preference, exchange: name } : null;
    }
    case DNS_TYPE.srv: {
      const [priority, weight, port] = [parseNumber(first), parseNumber(second), parseNumber(values[2] ?? "")];
      if (values.length !== 4 || priority === null || weight === null || port === null || name === null) return null;
      return { kind: "srv", priority, weight, port, target: name };
    }
    case DNS_TYPE.txt: {
      const strings = values.map((value) => String.fromCharCode(...encodeUtf8(value)));
      const length = strings.reduce((sum, string) => sum + string.length + 1, 0);
      return strings.length > 0 && length <= MAX_DATA_LENGTH && strings.every((string) => string.length <= MAX_STRING_LENGTH) ? { kind: "txt", strings } : null;
    }
    default:
      return parseUnknownData(values);
  }
}

/** RFC 3597 section 5: `\# LENGTH HEX …`. */
function parseUnknownData(values: readonly string[]): RecordData | null {
  const [mark, length = ""] = values;
  const hex = values.slice(2).join("").toLowerCase();
  const isHex = mark === "\\#" && hex.length <= 2 * MAX_DATA_LENGTH && /^[\da-f]*$/.test(hex);
  return isHex && parseNumber(length) === hex.length / 2 ? { kind: "bytes", hex } : null;
}

const scratch = new Uint8Array(MAX_KEY_LENGTH);

/** @returns The name without a dot at the end, or null where it is none that a message can hold. */
export function checkName(name: string): string | null {
  if (writeTextKey(name.startsWith("*.") ? name.slice(2) : name, scratch) < 0) return null;
  return name.length > 1 && name.endsWith(".") ? name.slice(0, -1) : name;
}

/**
 * @param name The name that was asked.
 * @returns A record that `encodeDns` takes, or null where a name with `*.` grows too long.
 */
export function toDnsRecord({ type, ttlSeconds, data }: RecordText, name: string): DnsRecordFields | null {
  const value = toDnsData(data, name);
  return value === null ? null : { name, type, class: DNS_CLASS.internet, ttlSeconds, data: value };
}

function toDnsData(data: RecordData, name: string): DnsData | null {
  switch (data.kind) {
    case "address":
      return { kind: "address", address: parseIp(data.address) ?? new Uint8Array(4) };
    case "name": {
      const target = data.name.startsWith("*.") ? checkName(`${name}.${data.name.slice(2)}`) : data.name;
      return target === null ? null : { kind: "name", name: target };
    }
    case "txt":
      return { kind: "txt", strings: data.strings.map((string) => Uint8Array.from(string, (character) => character.charCodeAt(0))) };
    case "bytes":
      return { kind: "bytes", bytes: Uint8Array.from(data.hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)) };
    case "mx":
    case "srv":
      return data;
    default:
      return data satisfies never;
  }
}
