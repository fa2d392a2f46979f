/** The value of `$dnsrewrite`. @see https://adguard-dns.io/kb/general/dns-filtering-syntax/#dnsrewrite-modifier */
import { DNS_TYPE, formatIp, parseIp } from "@lanthorn/packets";
import type { RuleEffect } from "../list-rule.ts";
import { LIST_TTL_SECONDS } from "./hosts.ts";
import { parseHostName } from "../../names/name-key.ts";
import { checkName, parseRecordData, parseRecordType, type RecordData } from "../record-text.ts";

const ANSWERS: Readonly<Record<string, Extract<RuleEffect, { kind: "rewrite" }>["answer"]>> = {
  NOERROR: "nodata", NXDOMAIN: "nxdomain", REFUSED: "refused", SERVFAIL: "servfail",
};

/** Types that can be given; all others, HTTPS and SVCB among them, would need a parser of their own. */
const TYPES: ReadonlySet<number> = new Set([DNS_TYPE.a, DNS_TYPE.aaaa, DNS_TYPE.cname, DNS_TYPE.mx, DNS_TYPE.ptr, DNS_TYPE.srv, DNS_TYPE.txt]);

/** Reads a response code, an address, a name, or `CODE;TYPE;VALUE`. @returns Undefined for what is none of them. */
export function parseDnsRewrite(value: string): RuleEffect | undefined {
  const [first = "", second = "", ...rest] = value.split(";");
  if (!value.includes(";")) return parseShort(value);
  const answer = Object.hasOwn(ANSWERS, first) ? ANSWERS[first] : undefined;
  const data = rest.join(";");
  if (answer === undefined || (second === "") !== (data === "")) return undefined;
  if (second === "") return { kind: "rewrite", answer, records: [] };
  const type = answer === "nodata" ? parseRecordType(second) : null;
  if (type === null || !TYPES.has(type)) return undefined;
  const values = type === DNS_TYPE.txt ? [data] : data.split(" ");
  return recordEffect(type, parseRecordData(type, values, checkName));
}

function parseShort(value: string): RuleEffect | undefined {
  const answer = Object.hasOwn(ANSWERS, value) ? ANSWERS[value] : undefined;
  if (answer !== undefined) return { kind: "rewrite", answer, records: [] };
  const address = parseIp(value);
  if (address) return recordEffect(address.length === 4 ? DNS_TYPE.a : DNS_TYPE.aaaa, { kind: "address", address: formatIp(address) });
  return parseHostName(value) ? recordEffect(DNS_TYPE.cname, { kind: "name", name: value.toLowerCase() }) : undefined;
}

function recordEffect(type: number, data: RecordData | null): RuleEffect | undefined {
  return data === null ? undefined : { kind: "rewrite", answer: "nodata", records: [{ type, ttlSeconds: LIST_TTL_SECONDS, data }] };
}
