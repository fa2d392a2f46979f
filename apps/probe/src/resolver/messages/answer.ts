/** An upstream's answer, made ready to be given to any client that asks the same. @see RFC 2181 section 8, RFC 2308 section 5, RFC 8767 */
import { type AnswerFacts, readAnswerFacts } from "@lanthorn/dns";
import { decodeDns, DNS_RESPONSE_CODE, DNS_TYPE, dnsEdns, type DnsMessage, encodeDns, locateDnsRecords } from "@lanthorn/packets";

/** Good for as long as it says. */
export interface Answer {
  /** The whole message without OPT; id 0. */
  readonly bytes: Uint8Array;
  /** Where the TTLs of its records lie. */
  readonly ttls: readonly number[];
  /** Behind its question. */
  readonly questionEnd: number;
  /** Of the header's four bits. */
  readonly responseCode: number;
  readonly isAuthenticData: boolean;
  /** What lists are compared with. */
  readonly facts: AnswerFacts;
  /** The shortest TTL; for what is not there, that of the zone's SOA; bounded. */
  readonly lifeSeconds: number;
}

/** RFC 8767 section 4 asks for a cap of days; a day forgets what nobody asks any more. */
const MAX_LIFE_SECONDS = 86_400;
/** RFC 2308 section 5: one to three hours. */
const MAX_NEGATIVE_SECONDS = 3600;
/** An answer without a record and without SOA, and one of another code: soon asked again. RFC 9520 section 3.2: between 1 s and 5 min. */
const SHORT_LIFE_SECONDS = 5;

/**
 * @param received A response whose id and question were compared.
 * @returns Null where it cannot be decoded.
 */
export function prepareAnswer(received: Uint8Array): { readonly answer: Answer; readonly message: DnsMessage; readonly responseCode: number } | null {
  // A copy: what was received may be part of something larger.
  const whole = Uint8Array.prototype.slice.call(received);
  const result = decodeDns(whole);
  if (!result.ok) return null;
  const message = result.value;
  const bytes = withoutOpt(whole, message);
  const layout = bytes && locateDnsRecords(bytes);
  if (!bytes || !layout) return null;
  bytes[0] = 0;
  bytes[1] = 0;
  const answer: Answer = {
    bytes, ttls: layout.ttls, questionEnd: layout.questionsEnd, responseCode: message.responseCode, isAuthenticData: message.isAuthenticData,
    lifeSeconds: lifeOf(message), facts: readAnswerFacts(message),
  };
  return { answer, message, responseCode: dnsEdns(message)?.responseCode ?? message.responseCode };
}

/** @returns A view where it can be. Null where OPT stands before others, and they cannot be written again. */
function withoutOpt(whole: Uint8Array, message: DnsMessage): Uint8Array | null {
  const layout = locateDnsRecords(whole);
  if (!layout) return null;
  if (!layout.opt) return whole.subarray(0, layout.end);
  if (layout.opt.end === layout.end) {
    const bytes = whole.subarray(0, layout.opt.start);
    new DataView(bytes.buffer, bytes.byteOffset).setUint16(10, message.additionals.length - 1);
    return bytes;
  }
  try {
    return encodeDns({ ...message, additionals: message.additionals.filter(({ type }) => type !== DNS_TYPE.opt) });
  } catch {
    return null;
  }
}

function lifeOf(message: DnsMessage): number {
  const { noError, nameError } = DNS_RESPONSE_CODE;
  if (message.responseCode !== noError && message.responseCode !== nameError) return SHORT_LIFE_SECONDS;
  const least = message.answers.reduce((seconds, record) => Math.min(seconds, ttlOf(record.ttlSeconds)), MAX_LIFE_SECONDS);
  const isThere = message.responseCode === noError && message.answers.length > 0;
  if (isThere) return least;
  const soa = message.authorities.find(({ data }) => data.kind === "soa");
  if (soa?.data.kind !== "soa") return Math.min(least, SHORT_LIFE_SECONDS);
  return Math.min(least, MAX_NEGATIVE_SECONDS, ttlOf(soa.ttlSeconds), soa.data.minimum);
}

/** RFC 2181 section 8: with the top bit set it is 0. */
function ttlOf(seconds: number): number {
  return seconds > 0x7fff_ffff ? 0 : seconds;
}
