/** File sharing up to the password. @see MS-SMB2 sections 2.2.1 to 2.2.6, 3.3.5.3 to 3.3.5.5 */
import { createFramedReader } from "../framed-reader.ts";
import type { Peer, Service, Stage } from "../service.ts";
import { encodeFiletime } from "./filetime.ts";
import { createNtlmExchange, findNtlm, type NtlmExchange } from "./ntlm.ts";
import { encodeSpnegoChallenge, encodeSpnegoOffer } from "./spnego.ts";

const [OLD, NEW] = [0xff53_4d42, 0xfe53_4d42];
const OLD_NEGOTIATE = 0x72;
const FRAME_OCTETS = 4;
const HEADER_OCTETS = 64;
const COMMAND = { negotiate: 0, sessionSetup: 1, logoff: 2, echo: 13 } as const;
const STATUS = { success: 0, moreProcessing: 0xc000_0016, accessDenied: 0xc000_0022, logonFailure: 0xc000_006d, invalid: 0xc000_000d, notSupported: 0xc000_00bb, deleted: 0xc000_0203 } as const;
/** What the server takes, the best one first; `any` is for who began with the old protocol. */
const DIALECTS = [0x0311, 0x0302, 0x0300, 0x0210, 0x0202] as const;
const [ANY, NEWEST] = [0x02ff, 0x0311];
const CAPABILITIES = { leasing: 0x2, largeMtu: 0x4, distributed: 0x1, encryption: 0x40 } as const;
const CONTEXT = { integrity: 1, encryption: 2 } as const;
const [SHA512, AES128_GCM] = [1, 2];
const MAX_TRANSFER = 8 * 1024 * 1024;

interface Header {
  readonly command: number;
  readonly messageId: bigint;
  readonly processId: number;
  readonly credits: number;
  readonly body: Buffer;
}

/** Lets a client say who it is by NTLM, and refuses it. */
export const smb2: Service = (peer, stage) => {
  let exchange: NtlmExchange | null = null;
  const sessionId = peer.random(4);
  const end = () => {
    peer.end();
    return false;
  };
  return createFramedReader((bytes) => (bytes.length < FRAME_OCTETS ? null : bytes[0] === 0 ? FRAME_OCTETS + bytes.readUIntBE(1, 3) : "bad"), (frame) => {
    const message = frame.subarray(FRAME_OCTETS);
    if (message.length >= 33 && message.readUInt32BE(0) === OLD) {
      if (message[4] !== OLD_NEGOTIATE) return end();
      const dialect = readOldDialect(message.toString("latin1", 32));
      if (dialect === null) return end();
      return send(peer, { command: COMMAND.negotiate, messageId: 0n, processId: 0, credits: 1, body: message }, { status: STATUS.success, body: negotiation(peer, stage, dialect) });
    }
    const header = readHeader(message);
    if (!header) return end();
    if (header.command === COMMAND.negotiate) {
      const dialect = readDialect(header.body);
      return send(peer, header, dialect === null ? { status: STATUS.notSupported, body: failure() } : { status: STATUS.success, body: negotiation(peer, stage, dialect) });
    }
    if (header.command === COMMAND.echo) return send(peer, header, { status: STATUS.success, body: Buffer.from([4, 0, 0, 0]) });
    if (header.command !== COMMAND.sessionSetup) return send(peer, header, { status: STATUS.deleted, body: failure() });
    exchange ??= createNtlmExchange(stage, peer);
    return setUpSession(peer, header, exchange, sessionId);
  }, end);
};

function setUpSession(peer: Peer, header: Header, exchange: NtlmExchange, sessionId: Buffer): true {
  const token = readToken(header.body);
  const ntlm = token && findNtlm(token);
  const read = ntlm && exchange.read(ntlm);
  if (!token || !read) return send(peer, header, { status: STATUS.invalid, body: failure() });
  if ("challenge" in read) {
    const wrapped = ntlm === token || token.equals(ntlm) ? read.challenge : encodeSpnegoChallenge(read.challenge);
    const body = Buffer.from([9, 0, 0, 0, HEADER_OCTETS + 8, 0, 0, 0]);
    body.writeUInt16LE(wrapped.length, 6);
    return send(peer, header, { status: STATUS.moreProcessing, body: Buffer.concat([body, wrapped]), sessionId });
  }
  const { login } = read;
  if (login.isAnonymous) peer.reached("command", "", "asked for a session without a name");
  else peer.tried(login.username, login.isProofOf, login.detail);
  return send(peer, header, { status: login.isAnonymous ? STATUS.accessDenied : STATUS.logonFailure, body: failure(), sessionId });
}

/** Who speaks both begins with the old protocol. */
function readOldDialect(text: string): number | null {
  if (text.includes("SMB 2.???")) return ANY;
  return text.includes("SMB 2.002") ? 0x0202 : null;
}

function readHeader(message: Buffer): Header | null {
  if (message.length < HEADER_OCTETS + 2 || message.readUInt32BE(0) !== NEW) return null;
  return {
    command: message.readUInt16LE(12), credits: message.readUInt16LE(14), messageId: message.readBigUInt64LE(24), processId: message.readUInt32LE(32), body: message.subarray(HEADER_OCTETS),
  };
}

function readDialect(body: Buffer): number | null {
  if (body.length < 36) return null;
  const count = Math.min(body.readUInt16LE(2), 16);
  const asked = new Set(Array.from({ length: count }, (_, index) => (36 + 2 * index + 2 <= body.length ? body.readUInt16LE(36 + 2 * index) : 0)));
  return DIALECTS.find((dialect) => asked.has(dialect)) ?? null;
}

/** Its offset is from the header's begin. */
function readToken(body: Buffer): Buffer | null {
  if (body.length < 24) return null;
  const [offset, octets] = [body.readUInt16LE(12) - HEADER_OCTETS, body.readUInt16LE(14)];
  return offset < 24 || offset + octets > body.length ? null : body.subarray(offset, offset + octets);
}

function negotiation(peer: Peer, stage: Stage, dialect: number): Buffer {
  const token = encodeSpnegoOffer();
  const fixed = Buffer.alloc(64);
  fixed.writeUInt16LE(65, 0);
  fixed.writeUInt16LE(1, 2);
  fixed.writeUInt16LE(dialect, 4);
  stage.derive("smb2", 16).copy(fixed, 8);
  fixed.writeUInt32LE(CAPABILITIES.distributed | (dialect === 0x0202 ? 0 : CAPABILITIES.leasing | CAPABILITIES.largeMtu), 24);
  for (const at of [28, 32, 36]) fixed.writeUInt32LE(dialect === 0x0202 ? 65_536 : MAX_TRANSFER, at);
  encodeFiletime(peer.now().getTime()).copy(fixed, 40);
  fixed.writeUInt16LE(HEADER_OCTETS + fixed.length, 56);
  fixed.writeUInt16LE(token.length, 58);
  if (dialect !== NEWEST) return Buffer.concat([fixed, token]);
  const padding = Buffer.alloc((8 - (fixed.length + token.length) % 8) % 8);
  fixed.writeUInt16LE(2, 6);
  fixed.writeUInt32LE(HEADER_OCTETS + fixed.length + token.length + padding.length, 60);
  const integrity = Buffer.concat([Buffer.from([1, 0, 32, 0, SHA512, 0]), peer.random(32)]);
  return Buffer.concat([fixed, token, padding, context(CONTEXT.integrity, integrity), Buffer.alloc(2), context(CONTEXT.encryption, Buffer.from([1, 0, AES128_GCM, 0]))]);
}

function context(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(data.length, 2);
  return Buffer.concat([head, data]);
}

function failure(): Buffer {
  return Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 0]);
}

/** @returns That it goes on. */
function send(peer: Peer, { command, messageId, processId, credits }: Header, { status, body, sessionId }: { readonly status: number; readonly body: Buffer; readonly sessionId?: Buffer }): true {
  const head = Buffer.alloc(FRAME_OCTETS + HEADER_OCTETS);
  head.writeUInt32BE(HEADER_OCTETS + body.length, 0);
  head.writeUInt32BE(NEW, 4);
  head.writeUInt16LE(HEADER_OCTETS, 8);
  head.writeUInt32LE(status, 12);
  head.writeUInt16LE(command, 16);
  head.writeUInt16LE(Math.max(1, Math.min(credits, 128)), 18);
  // From the server.
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(messageId, 28);
  head.writeUInt32LE(processId, 36);
  sessionId?.copy(head, 44);
  peer.send(Buffer.concat([head, body]));
  return true;
}
