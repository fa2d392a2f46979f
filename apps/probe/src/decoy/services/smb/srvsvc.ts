/** The pipe by which clients ask which shares there are. @see MS-SRVS section 3.1.4.8, C706 chapter 12 (PDUs), MS-RPCE section 2.2.2 */
import { pack } from "./message.ts";
import type { SmbShare } from "./shares.ts";

/** An open pipe. */
export interface SmbPipe {
  /** @returns False for what is no PDU. */
  write(pdu: Buffer): boolean;
  /** @returns At most so many octets of what it answers; "empty" for none. */
  take(octets: number): { readonly bytes: Buffer; readonly isAll: boolean } | "empty";
}

const PDU = { request: 0, response: 2, fault: 3, bind: 11, bindAck: 12 } as const;
const [HEADER_OCTETS, BIND_OCTETS, CONTEXT_OCTETS, REQUEST_OCTETS] = [16, 28, 44, 24] as const;
const WHOLE = 3;
const LITTLE_ENDIAN = 0x10;
/** NDR of version 2, as the transfer syntax. */
const NDR = Buffer.from("045d888aeb1cc9119fe808002b10486002000000", "hex");
const [ACCEPTED, REJECTED, NO_SYNTAX] = [0, 2, 2] as const;
const MAX_CONTEXTS = 8;
/** What a client may leave unread. */
const MAX_ANSWER_OCTETS = 16 * 1024;
const ENUMERATE_SHARES = 15;
const UNKNOWN_OPERATION = 0x1c01_0002;
const UNKNOWN_LEVEL = 124;
const TYPE = { disk: 0, pipe: 0x8000_0003, hidden: 0x8000_0000 } as const;
/** Of NDR: a pointer that leads somewhere. */
const REFERENT = 0x2_0000;

/** @param onEnumerate Somebody asks for the shares. */
export function openSharesPipe(shares: readonly SmbShare[], onEnumerate: () => void): SmbPipe {
  let answers: Buffer = Buffer.alloc(0);
  return {
    write(pdu) {
      if (pdu.length < HEADER_OCTETS || pdu[0] !== 5 || pdu.length !== pdu.readUInt16LE(8) || answers.length > MAX_ANSWER_OCTETS) return false;
      const answer = answerPdu(pdu, shares, onEnumerate);
      if (answer) answers = Buffer.concat([answers, answer]);
      return answer !== null;
    },
    take(octets) {
      if (answers.length === 0) return "empty";
      const bytes = answers.subarray(0, octets);
      answers = answers.subarray(octets);
      return { bytes, isAll: answers.length === 0 };
    },
  };
}

function answerPdu(pdu: Buffer, shares: readonly SmbShare[], onEnumerate: () => void): Buffer | null {
  const callId = pdu.readUInt32LE(12);
  if (pdu[2] === PDU.bind) return encodePdu(PDU.bindAck, callId, acceptBind(pdu));
  if (pdu[2] !== PDU.request || pdu.length < REQUEST_OCTETS) return null;
  const [context, operation] = [pdu.readUInt16LE(20), pdu.readUInt16LE(22)];
  if (operation !== ENUMERATE_SHARES) return encodePdu(PDU.fault, callId, pack([4, 0], [2, context], [2, 0], [4, UNKNOWN_OPERATION], [4, 0]));
  onEnumerate();
  const stub = readLevel(pdu.subarray(REQUEST_OCTETS)) === 1 ? encodeShares(shares) : pack([4, 0], [4, 0], [4, 0], [4, 0], [4, 0], [4, UNKNOWN_LEVEL]);
  return encodePdu(PDU.response, callId, Buffer.concat([pack([4, stub.length], [2, context], [2, 0]), stub]));
}

function encodePdu(type: number, callId: number, body: Buffer): Buffer {
  return Buffer.concat([pack([1, 5], [1, 0], [1, type], [1, WHOLE], [4, LITTLE_ENDIAN], [2, HEADER_OCTETS + body.length], [2, 0], [4, callId]), body]);
}

/** Of each context NDR is taken, and no other syntax. */
function acceptBind(pdu: Buffer): Buffer {
  const results: Buffer[] = [];
  for (let at = BIND_OCTETS; at + CONTEXT_OCTETS <= pdu.length && results.length < Math.min(MAX_CONTEXTS, pdu[24] ?? 0);) {
    const isNdr = pdu.subarray(at + CONTEXT_OCTETS - NDR.length, at + CONTEXT_OCTETS).equals(NDR);
    results.push(Buffer.concat(isNdr ? [pack([2, ACCEPTED], [2, 0]), NDR] : [pack([2, REJECTED], [2, NO_SYNTAX]), Buffer.alloc(NDR.length)]));
    at += CONTEXT_OCTETS + NDR.length * Math.max(0, (pdu[at + 2] ?? 1) - 1);
  }
  const address = Buffer.from("\\PIPE\\srvsvc\0", "latin1");
  const head = Buffer.concat([pack([2, 4280], [2, 4280], [4, 0x53f0], [2, address.length]), address]);
  return Buffer.concat([head, Buffer.alloc((4 - head.length % 4) % 4), pack([1, results.length], [1, 0], [2, 0]), ...results]);
}

/** Behind the server's name, which may be left out. */
function readLevel(stub: Buffer): number | null {
  if (stub.length < 8) return null;
  if (stub.readUInt32LE(0) === 0) return stub.readUInt32LE(4);
  if (stub.length < 16) return null;
  const at = 16 + Math.ceil(stub.readUInt32LE(12) * 2 / 4) * 4;
  return at + 4 > stub.length ? null : stub.readUInt32LE(at);
}

/** Of level 1: name, kind and comment. @see MS-SRVS section 2.2.4.23 */
function encodeShares(shares: readonly SmbShare[]): Buffer {
  const kindOf = ({ kind, name }: SmbShare) => (kind === "pipes" ? TYPE.pipe : name.endsWith("$") ? TYPE.hidden : TYPE.disk);
  const entries = shares.map((share, index) => pack([4, REFERENT + 8 + 8 * index], [4, kindOf(share)], [4, REFERENT + 12 + 8 * index]));
  const texts = shares.flatMap(({ name, comment }) => [encodeText(name), encodeText(comment)]);
  return Buffer.concat([
    pack([4, 1], [4, 1], [4, REFERENT], [4, shares.length], [4, REFERENT + 4], [4, shares.length]), ...entries, ...texts, pack([4, shares.length], [4, 0], [4, 0]),
  ]);
}

/** A conformant and varying string, which ends with a zero. @see C706 section 14.3.4.2 */
function encodeText(text: string): Buffer {
  const letters = Buffer.from(`${text}\0`, "utf16le");
  return Buffer.concat([pack([4, text.length + 1], [4, 0], [4, text.length + 1]), letters, Buffer.alloc((4 - letters.length % 4) % 4)]);
}
