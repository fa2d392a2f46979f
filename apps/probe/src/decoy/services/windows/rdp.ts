/** Remote desktop up to the password. @see MS-RDPBCGR sections 2.2.1.1 and 2.2.1.2, MS-CSSP section 2.2.1 */
import { encodeInteger, encodeTlv, decodeInteger, readAll, readTlv, tlvSize } from "@lanthorn/packets";
import { createFramedReader } from "../framed-reader.ts";
import type { Peer, Service, Stage } from "../service.ts";
import { createNtlmExchange, findNtlm } from "./ntlm.ts";
import { encodeSpnegoChallenge, tagged } from "./spnego.ts";

const TPKT_VERSION = 3;
const X224 = { request: 0xe0, confirm: 0xd0 } as const;
const NEGOTIATION = { request: 1, response: 2, failure: 3 } as const;
const PROTOCOL = { tls: 1, hybrid: 2 } as const;
const HYBRID_REQUIRED = 5;
/** Extended client data and the graphics pipeline. */
const FLAGS = 0x1f;
const COOKIE = /Cookie: mstshash=([^\r\n]{1,127})\r\n/;
const TAG = { sequence: 0x30, octets: 0x04, integer: 0x02, version: 0xa0, tokens: 0xa1 } as const;
/** Of CredSSP, as Windows Server 2019 has it. */
const MAX_VERSION = 6;
/** Of which on a server says why it refuses, but for version 5. */
const ERROR_SINCE = 3;
const LOGON_FAILURE = Buffer.from([0xc0, 0x00, 0x00, 0x6d]);

/** Wants authentication by the network level, and refuses who gives it. */
export const rdp: Service = (peer, stage) => {
  let readSecret: ((bytes: Buffer) => void) | null = null;
  const readRequest = createFramedReader(
    (bytes) => (bytes.length > 0 && bytes[0] !== TPKT_VERSION ? "bad" : bytes.length < 4 ? null : bytes.readUInt16BE(2)),
    (message) => {
      readSecret = begin(peer, stage, message);
      return false;
    },
    () => peer.end(),
  );
  return (bytes) => (readSecret ?? readRequest)(bytes);
};

/** @returns What reads what comes within TLS; null where it ends here. */
function begin(peer: Peer, stage: Stage, message: Buffer): ((bytes: Buffer) => void) | null {
  if (message.length < 11 || message[5] !== X224.request) {
    peer.end();
    return null;
  }
  const text = message.toString("latin1", 11);
  const cookie = COOKIE.exec(text)?.[1];
  if (cookie !== undefined) peer.reached("banner", cookie, `named the user ${cookie}`);
  const at = message.length - 8;
  const asked = at >= 11 && message[at] === NEGOTIATION.request && message.readUInt16LE(at + 2) === 8 ? message.readUInt32LE(at + 4) : 0;
  const reply = (type: number, flags: number, value: number) => Buffer.from([TPKT_VERSION, 0, 0, 19, 14, X224.confirm, 0, 0, 0x12, 0x34, 0, type, flags, 8, 0, value, 0, 0, 0]);
  if ((asked & PROTOCOL.hybrid) === 0) {
    peer.end(reply(NEGOTIATION.failure, 0, HYBRID_REQUIRED));
    return null;
  }
  peer.send(reply(NEGOTIATION.response, FLAGS, PROTOCOL.hybrid));
  peer.startTls();
  return createCredSsp(peer, stage);
}

function createCredSsp(peer: Peer, stage: Stage): (bytes: Buffer) => void {
  const exchange = createNtlmExchange(stage, peer);
  const end = () => {
    peer.end();
    return false;
  };
  return createFramedReader((bytes) => (bytes[0] === undefined || bytes[0] === TAG.sequence ? tlvSize(bytes) : "bad"), (message) => {
    const fields = readAll(readTlv(message)?.value ?? new Uint8Array(0));
    const versionField = readTlv(fields.find(({ tag }) => tag === TAG.version)?.value ?? new Uint8Array(0));
    const tokens = fields.find(({ tag }) => tag === TAG.tokens);
    const version = Math.min(MAX_VERSION, versionField?.tag === TAG.integer ? decodeInteger(versionField.value) : 2);
    const ntlm = tokens && findNtlm(Buffer.from(tokens.value));
    const read = ntlm && exchange.read(ntlm);
    if (!read) return end();
    if ("challenge" in read) {
      const isWrapped = Buffer.from(tokens.value).includes(Buffer.from("2b0601050502", "hex"));
      peer.send(encodeRequest(version, tagged(1, encodeTlv(TAG.sequence, encodeTlv(TAG.sequence, tagged(0, encodeTlv(TAG.octets, isWrapped ? encodeSpnegoChallenge(read.challenge) : read.challenge)))))));
      return true;
    }
    if (read.login.isAnonymous) peer.reached("banner", "", "gave no name");
    else peer.tried(read.login.username, read.login.isProofOf, read.login.detail);
    if (version >= ERROR_SINCE && version !== 5) peer.end(encodeRequest(version, tagged(4, encodeTlv(TAG.integer, LOGON_FAILURE))));
    else peer.end();
    return false;
  }, end);
}

function encodeRequest(version: number, field: Uint8Array): Buffer {
  return Buffer.from(encodeTlv(TAG.sequence, Buffer.concat([tagged(0, encodeInteger(version)), field])));
}
