/** The records of a zone as lines of a master file, and changes of them. */
import { DNS_CLASS, DNS_TYPE, type DnsData, type DnsRecord, formatIp } from "@lanthorn/packets";

/** Types that have a name in master files and data that is not written as bytes. */
const NAMED: Readonly<Record<number, string>> = { [DNS_TYPE.a]: "A", [DNS_TYPE.ns]: "NS", [DNS_TYPE.cname]: "CNAME", [DNS_TYPE.soa]: "SOA", [DNS_TYPE.ptr]: "PTR", [DNS_TYPE.mx]: "MX", [DNS_TYPE.txt]: "TXT", [DNS_TYPE.aaaa]: "AAAA", [DNS_TYPE.srv]: "SRV" };

/**
 * @param data What the record's data are as bytes, for types that have no text of their own: those are left out.
 * @returns A line without its end, the same for the same record: names in small letters, with a dot at the end. Null for a record that a policy zone has no use for.
 */
export function recordLine({ name, type, class: recordClass, ttlSeconds, data }: DnsRecord): string | null {
  const text = recordClass === DNS_CLASS.internet ? dataText(data) : null;
  const typeName = NAMED[type];
  if (text === null) return null;
  return `${absolute(name)} ${ttlSeconds} IN ${data.kind === "bytes" ? `TYPE${type}` : typeName ?? `TYPE${type}`} ${text}`;
}

function dataText(data: DnsData): string | null {
  switch (data.kind) {
    case "address":
      return formatIp(data.address);
    case "name":
      return absolute(data.name);
    case "soa":
      return [absolute(data.mname), absolute(data.rname), data.serial, data.refresh, data.retry, data.expire, data.minimum].join(" ");
    case "mx":
      return `${data.preference} ${absolute(data.exchange)}`;
    case "srv":
      return `${data.priority} ${data.weight} ${data.port} ${absolute(data.target)}`;
    case "txt":
      return data.strings.map((string) => `"${[...string].map(characterOf).join("")}"`).join(" ");
    case "bytes":
      return data.bytes.length === 0 ? null : `\\# ${data.bytes.length} ${Buffer.from(data.bytes).toString("hex")}`;
    // A policy zone answers with none of them, and they would change with each server that signs it.
    case "nsec":
    case "svcb":
    case "opt":
      return null;
    default:
      return data satisfies never;
  }
}

function characterOf(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCodePoint(byte)}`;
  return byte >= 0x20 && byte < 0x7f ? String.fromCodePoint(byte) : `\\${String(byte).padStart(3, "0")}`;
}

function absolute(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith(".") && !lower.endsWith("\\.") ? lower : `${lower}.`;
}
