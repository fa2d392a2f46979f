/** What a client gets in place of the truth. @see RFC 8914 */
import { toDnsRecord, type Verdict } from "@lanthorn/dns";
import { decodeDns, DNS_RESPONSE_CODE, type DnsQuery, encodeDns } from "@lanthorn/packets";
import { prepareAnswer } from "../messages/answer.ts";
import { writeAnswer, writeCode } from "../messages/response.ts";

/** The query that was judged. */
export interface JudgedQuery {
  readonly bytes: Uint8Array;
  readonly query: DnsQuery;
  readonly cookie: Uint8Array | null;
  readonly maxBytes: number;
}

const CODE = {
  nxdomain: DNS_RESPONSE_CODE.nameError, nodata: DNS_RESPONSE_CODE.noError, refused: DNS_RESPONSE_CODE.refused, servfail: DNS_RESPONSE_CODE.serverFailure,
} as const;

/** A client that keeps it asks less, and has a name that is allowed now soon enough. */
const KEPT_SECONDS = 10;

/** @returns Null where the verdict is to say nothing. */
export function writeVerdict({ action, answer, extendedError }: Verdict, { bytes, query, cookie, maxBytes }: JudgedQuery): Buffer | null {
  if (action === "truncate") return writeCode(bytes, query, DNS_RESPONSE_CODE.noError, { isTruncated: true, cookie });
  if (action === "drop" || answer === null) return null;
  if (answer.kind !== "records") {
    const keptSeconds = answer.kind === "nxdomain" || answer.kind === "nodata" ? KEPT_SECONDS : 0;
    return writeCode(bytes, query, CODE[answer.kind], { extendedError, cookie, keptSeconds });
  }
  const name = questionName(bytes, query);
  const answers = answer.records.flatMap((record) => toDnsRecord(record, name) ?? []);
  const made = prepareAnswer(encodeDns({ isResponse: true, questions: [{ name, type: query.type }], answers }));
  if (!made) return writeCode(bytes, query, DNS_RESPONSE_CODE.serverFailure, { cookie });
  return writeAnswer(made.answer, bytes, query, { ageSeconds: 0, fixedTtlSeconds: null, extendedError, cookie, maxBytes });
}

/** The name as the decoder writes it. Most names are letters, digits, hyphens and dots: those need no decoder. */
export function questionName(bytes: Uint8Array, { nameEnd }: DnsQuery): string {
  let text = "";
  for (let label = 12; label < nameEnd - 1; label += 1 + (bytes[label] as number)) {
    const end = label + 1 + (bytes[label] as number);
    for (let at = label + 1; at < end; at += 1) if (!isPlain(bytes[at] as number)) return decodedName(bytes);
    text += `${text === "" ? "" : "."}${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1", label + 1, end)}`;
  }
  return text === "" ? "." : text;
}

function decodedName(bytes: Uint8Array): string {
  const result = decodeDns(bytes);
  return result.ok ? result.value.questions[0]?.name ?? "." : ".";
}

/** Letters, digits, `-` and `_`. */
function isPlain(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x5f || (byte >= 0x41 && byte <= 0x5a);
}
