/** DNS without its port: the header and the first question are strict enough. */
import { Reader } from "@lanthorn/packets";
import type { Verdict } from "./verdict.ts";

/** Of the first message; queries are short, and the largest answers that servers give have some thousand bytes. */
const MAX_FIRST_LENGTH = 0x3fff;

/** What a message has that two bytes of length stand before. @see RFC 1035 sections 4.1 and 4.2.2 */
export function recognizeDnsOverTcp(bytes: Uint8Array): Verdict {
  if ((bytes[0] as number) > MAX_FIRST_LENGTH >> 8) return "no";
  const reader = new Reader(bytes);
  const length = reader.u16();
  if (!reader.failed && length < 17) return "no";
  if (bytes.length < 14) return bytes.length < 2 || couldBeHeader(bytes.subarray(2)) ? "more" : "no";
  const verdict = recognizeDns(bytes.subarray(2, 2 + length));
  return verdict === "more" && bytes.length >= 2 + length ? "no" : verdict;
}

/** @param bytes A message, or its beginning. `more`: all that is there fits. */
export function recognizeDns(bytes: Uint8Array): Verdict {
  if (!couldBeHeader(bytes)) return "no";
  if (bytes.length < 12) return "more";
  const reader = new Reader(bytes, 4);
  const [questions, answers, authorities, additionals] = [reader.u16(), reader.u16(), reader.u16(), reader.u16()];
  const isResponse = (bytes[2] as number) >= 0x80;
  if (questions > 16 || answers > 2000 || authorities > 256 || additionals > 256) return "no";
  if (questions + answers === 0) return isResponse && bytes.length === 12 ? "yes" : "no";
  return questions > 0 ? checkQuestion(reader) : checkName(reader);
}

/** Opcode and the bit that must be zero. */
function couldBeHeader(bytes: Uint8Array): boolean {
  const high = bytes[2];
  if (high === undefined) return true;
  const opcode = (high >> 3) & 0x0f;
  if (opcode > 6) return false;
  const low = bytes[3];
  return low === undefined || ((low & 0x40) === 0 && (low & 0x0f) <= 11);
}

function checkQuestion(reader: Reader): Verdict {
  const begin = reader.offset;
  const verdict = checkName(reader);
  if (verdict !== "yes") return verdict;
  const name = reader.bytes.subarray(begin, reader.offset);
  const type = reader.u16();
  const questionClass = reader.u16() & 0x7fff;
  if (reader.failed) return "more";
  if (isNetbiosName(name)) return "no";
  return type > 0 && [1, 3, 4, 254, 255].includes(questionClass) ? "yes" : "no";
}

function checkName(reader: Reader): Verdict {
  for (let length = 0; length <= 255;) {
    const label = reader.u8();
    if (reader.failed) return "more";
    if (label === 0) return "yes";
    if (label >= 0xc0) {
      reader.skip(1);
      return reader.failed ? "more" : "yes";
    }
    if (label > 63) return "no";
    length += label + 1;
    reader.skip(label);
    if (reader.failed) return "more";
  }
  return "no";
}

/** NetBIOS names look like DNS: one label of 32 letters from A to P. @see RFC 1001 section 14.1 */
function isNetbiosName(name: Uint8Array): boolean {
  return name.length >= 34 && name[0] === 32 && name.subarray(1, 33).every((byte) => byte >= 0x41 && byte <= 0x50);
}
