/** Signs a question for a zone, and checks what comes back. @see RFC 8945 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { TransferFault } from "@lanthorn/dns";

/** Algorithms by the names that servers know them by. @see RFC 8945 section 6 */
export const TSIG_HASHES = { "hmac-sha1": "sha1", "hmac-sha224": "sha224", "hmac-sha256": "sha256", "hmac-sha384": "sha384", "hmac-sha512": "sha512" } as const;

/** A key that both sides have. */
export interface TsigKey {
  readonly name: string;
  readonly algorithm: keyof typeof TSIG_HASHES;
  readonly secret: Uint8Array;
}

/** Checks the messages of one answer, in their order. */
export interface TsigAnswer {
  /** @returns The message without its signature. @throws TransferFault where it is not the server's, or too old. */
  check(message: Uint8Array, nowSeconds: number): Uint8Array;
  /** @throws TransferFault where the last message was not signed. */
  end(): void;
}

const TYPE_TSIG = 250;
const CLASS_ANY = 255;
const FUDGE_SECONDS = 300;
/** Section 5.3.1: at least each hundredth message is signed. */
const MAX_UNSIGNED = 99;
const HEADER = 12;
const ERRORS: Readonly<Record<number, string>> = { 16: "BADSIG: the secret differs", 17: "BADKEY: it does not know the key", 18: "BADTIME: its clock and the collector's differ by more than five minutes", 22: "BADTRUNC" };

/** @param message Without additional records. @returns The signed message, and what checks the answer. */
export function signQuestion(message: Uint8Array, key: TsigKey, nowSeconds: number): { readonly bytes: Uint8Array; readonly answer: TsigAnswer } {
  const variables = variablesOf(key, { seconds: nowSeconds, fudge: FUDGE_SECONDS, error: 0, other: new Uint8Array(0) });
  const mac = hmac(key, [message, variables]);
  const id = message.subarray(0, 2);
  const data = Buffer.concat([wireNameOf(`${key.algorithm}.`), timeOf(nowSeconds), u16(FUDGE_SECONDS), u16(mac.length), mac, id, u16(0), u16(0)]);
  const bytes = Buffer.concat([message, wireNameOf(key.name), u16(TYPE_TSIG), u16(CLASS_ANY), u16(0), u16(0), u16(data.length), data]);
  bytes.writeUInt16BE(1, 10);
  return { bytes, answer: createAnswer(key, mac) };
}

function createAnswer(key: TsigKey, requestMac: Uint8Array): TsigAnswer {
  let before = requestMac;
  let unsigned: Uint8Array[] = [];
  let isFirst = true;
  return {
    check(message, nowSeconds) {
      const found = readTsig(message);
      if (found === null) {
        // What refuses the question before the key was looked at is not signed.
        if (isFirst && ((message[3] ?? 0) & 15) !== 0) return message;
        if (isFirst || unsigned.length >= MAX_UNSIGNED) throw new TransferFault("its server does not sign its answer");
        unsigned.push(message);
        return message;
      }
      const { tsig, stripped } = found;
      if (tsig.error !== 0) throw new TransferFault(`its server refuses the key: ${ERRORS[tsig.error] ?? `error ${tsig.error}`}`);
      const tail = isFirst ? variablesOf(key, tsig) : Buffer.concat([timeOf(tsig.seconds), u16(tsig.fudge)]);
      const own = hmac(key, [u16(before.length), before, ...unsigned, stripped, tail]);
      if (tsig.mac.length !== own.length || !timingSafeEqual(tsig.mac, own)) throw new TransferFault("the signature of its server's answer is wrong");
      if (Math.abs(nowSeconds - tsig.seconds) > tsig.fudge) throw new TransferFault("its server's answer was signed too long ago: compare the clocks");
      [before, unsigned, isFirst] = [tsig.mac, [], false];
      return stripped;
    },
    end() {
      if (isFirst || unsigned.length > 0) throw new TransferFault("its server does not sign the end of its answer");
    },
  };
}

interface Tsig {
  readonly seconds: number;
  readonly fudge: number;
  readonly mac: Uint8Array;
  readonly error: number;
  readonly other: Uint8Array;
}

/** Null where the last record is none. @throws TransferFault for what is no message. */
function readTsig(message: Uint8Array): { readonly tsig: Tsig; readonly stripped: Uint8Array } | null {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.length);
  const broken = () => new TransferFault("its server's answer is no DNS message");
  const need = (end: number) => {
    if (end > bytes.length) throw broken();
    return end;
  };
  const skipName = (from: number): number => {
    for (let at = from; ;) {
      const length = bytes[need(at + 1) - 1] as number;
      if (length >= 0xc0) return need(at + 2);
      at = need(at + 1 + length);
      if (length === 0) return at;
    }
  };
  need(HEADER);
  const [questions, additionals] = [bytes.readUInt16BE(4), bytes.readUInt16BE(10)];
  if (additionals === 0) return null;
  let at = HEADER;
  for (let left = questions; left > 0; left -= 1) at = need(skipName(at) + 4);
  let start = at;
  for (let left = bytes.readUInt16BE(6) + bytes.readUInt16BE(8) + additionals; left > 0; left -= 1) {
    start = at;
    const data = need(skipName(at) + 10);
    at = need(data + bytes.readUInt16BE(data - 2));
  }
  const type = skipName(start);
  if (bytes.readUInt16BE(type) !== TYPE_TSIG) return null;
  let field = skipName(type + 10);
  const macAt = need(field + 10);
  const seconds = bytes.readUIntBE(field, 6);
  const fudge = bytes.readUInt16BE(field + 6);
  const mac = bytes.subarray(macAt, need(macAt + bytes.readUInt16BE(field + 8)));
  field = macAt + mac.length;
  need(field + 6);
  const other = bytes.subarray(field + 6, need(field + 6 + bytes.readUInt16BE(field + 4)));
  const stripped = Buffer.from(bytes.subarray(0, start));
  bytes.copy(stripped, 0, field, field + 2);
  stripped.writeUInt16BE(additionals - 1, 10);
  return { tsig: { seconds, fudge, mac, error: bytes.readUInt16BE(field + 2), other }, stripped };
}

function variablesOf(key: TsigKey, { seconds, fudge, error, other }: Omit<Tsig, "mac">): Buffer {
  return Buffer.concat([wireNameOf(key.name), u16(CLASS_ANY), u16(0), u16(0), wireNameOf(`${key.algorithm}.`), timeOf(seconds), u16(fudge), u16(error), u16(other.length), other]);
}

function hmac({ algorithm, secret }: TsigKey, parts: readonly Uint8Array[]): Buffer {
  const own = createHmac(TSIG_HASHES[algorithm], secret);
  for (const part of parts) own.update(part);
  return own.digest();
}

/** In small letters: section 4.3.3. Names of keys have no other letters than host names have. */
function wireNameOf(name: string): Uint8Array {
  const labels = name.toLowerCase().split(".").filter((label) => label !== "").map((label) => Buffer.from(label, "latin1"));
  return Buffer.concat([...labels.flatMap((label) => [Buffer.from([label.length]), label]), Buffer.alloc(1)]);
}

function u16(value: number): Buffer {
  return Buffer.from([value >>> 8, value & 0xff]);
}

function timeOf(seconds: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(seconds, 0, 6);
  return bytes;
}
