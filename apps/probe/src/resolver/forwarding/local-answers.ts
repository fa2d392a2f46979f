import { readAnswerFacts } from "@lanthorn/dns";
import { DNS_RESPONSE_CODE, DNS_TYPE } from "@lanthorn/packets";
import type { Answer } from "../messages/answer.ts";
import { encodeQuestion, type Question, questionEndOf } from "../messages/question.ts";
import { localMeaning } from "./local-names.ts";

const LIFE_SECONDS = 3600;
const NO_FACTS = readAnswerFacts({ answers: [] });
const LOOPBACK: Readonly<Record<number, readonly number[]>> = {
  [DNS_TYPE.a]: [127, 0, 0, 1],
  [DNS_TYPE.aaaa]: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
};
/** RFC 8482 section 4.2: who asks for everything gets one record that says so. */
const ANY_DATA = [...text("RFC8482"), 0];
const TYPE_HINFO = 13;

/**
 * @param hasRoute Whether servers of the site's own answer for the name.
 * @returns Null where it is for a server to say.
 */
export function localAnswer(question: Question, hasRoute: (name: Uint8Array) => boolean): Answer | null {
  if (question.type === DNS_TYPE.any) return answerWith(question, { type: TYPE_HINFO, data: ANY_DATA });
  const meaning = localMeaning(question.name);
  if (meaning === "localhost") {
    const data = LOOPBACK[question.type];
    return answerWith(question, data ? { type: question.type, data } : null);
  }
  return meaning === "nobody" && !hasRoute(question.name) ? withoutRecord(question, DNS_RESPONSE_CODE.nameError) : null;
}

function answerWith(question: Question, record: { readonly type: number; readonly data: readonly number[] } | null): Answer {
  const bare = withoutRecord(question, DNS_RESPONSE_CODE.noError);
  if (!record) return bare;
  const bytes = Buffer.alloc(bare.bytes.length + 12 + record.data.length);
  bytes.set(bare.bytes, 0);
  bytes.writeUInt16BE(1, 6);
  bytes.writeUInt16BE(0xc00c, bare.bytes.length);
  bytes.writeUInt16BE(record.type, bare.bytes.length + 2);
  bytes.writeUInt16BE(1, bare.bytes.length + 4);
  bytes.writeUInt32BE(LIFE_SECONDS, bare.bytes.length + 6);
  bytes.writeUInt16BE(record.data.length, bare.bytes.length + 10);
  bytes.set(record.data, bare.bytes.length + 12);
  return { ...bare, bytes, ttls: [bare.bytes.length + 6] };
}

function withoutRecord(question: Question, responseCode: number): Answer {
  const questionEnd = questionEndOf(question.name);
  const bytes = encodeQuestion(question, { id: 0, caseBits: new Uint8Array(0), cookie: null }).subarray(0, questionEnd);
  bytes.fill(0, 6, 12);
  return { bytes, ttls: [], questionEnd, responseCode, isAuthenticData: false, lifeSeconds: LIFE_SECONDS, facts: NO_FACTS };
}

function text(value: string): readonly number[] {
  return [value.length, ...Buffer.from(value, "latin1")];
}
