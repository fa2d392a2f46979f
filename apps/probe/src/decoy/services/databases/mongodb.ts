/** MongoDB's protocol up to the login. @see https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ */
import { createFramedReader } from "../framed-reader.ts";
import type { Peer, Service } from "../service.ts";
import { int32, readFirstKey, readText, writeDocument } from "./bson.ts";

const HEADER_OCTETS = 16;
const OPERATION = { reply: 1, query: 2004, message: 2013 } as const;
const HANDSHAKES: ReadonlySet<string> = new Set(["hello", "ismaster", "isMaster"]);
/** Of 4.4: what Debian's clients of these years speak. */
const WIRE_VERSION = 9;
const CODE = { unauthorized: 13, authenticationFailed: 18 } as const;

/** Says what it is, and that each command needs a login; a login fails at its first step, which has the user's name and no password. */
export const mongodb: Service = (peer, stage) => {
  let requests = 0;
  return createFramedReader((bytes) => (bytes.length < HEADER_OCTETS ? null : bytes.readInt32LE(0)), (message) => {
    const body = readBody(message);
    if (!body) {
      peer.end();
      return false;
    }
    requests += 1;
    const document = answer(peer, body.document, stage.persona.mongodb);
    peer.send(wrap(message.readInt32LE(4), requests, body.operation, document));
    return true;
  }, () => peer.end());
};

function readBody(message: Buffer): { readonly operation: number; readonly document: Buffer } | null {
  const operation = message.readInt32LE(12);
  if (operation === OPERATION.message) return message.length < 26 || message[20] !== 0 ? null : { operation, document: message.subarray(21) };
  if (operation !== OPERATION.query) return null;
  const end = message.indexOf(0, 20);
  return end < 0 || message.length < end + 14 ? null : { operation, document: message.subarray(end + 9) };
}

function answer(peer: Peer, document: Buffer, version: string): Buffer {
  const command = readFirstKey(document) ?? "";
  if (HANDSHAKES.has(command)) {
    peer.reached("banner", "", command);
    return writeDocument([
      ["ismaster", true], ["maxBsonObjectSize", int32(16_777_216)], ["maxMessageSizeBytes", int32(48_000_000)], ["maxWriteBatchSize", int32(100_000)], ["logicalSessionTimeoutMinutes", int32(30)],
      ["minWireVersion", int32(0)], ["maxWireVersion", int32(WIRE_VERSION)], ["readOnly", false], ["ok", 1],
    ]);
  }
  if (command.toLowerCase() === "buildinfo") return writeDocument([["version", version], ["gitVersion", "0".repeat(40)], ["bits", int32(64)], ["ok", 1]]);
  if (command === "saslStart") {
    const payload = readText(document, "payload") ?? "";
    const username = /(?:^|,)n=([^,]{1,255})/.exec(payload)?.[1] ?? "";
    peer.tried(username.replaceAll("=2C", ",").replaceAll("=3D", "="), () => false);
    return failure("Authentication failed.", CODE.authenticationFailed, "AuthenticationFailed");
  }
  peer.reached("command", "", command);
  return failure(`command ${command.slice(0, 64)} requires authentication`, CODE.unauthorized, "Unauthorized");
}

function failure(text: string, code: number, name: string): Buffer {
  return writeDocument([["ok", 0], ["errmsg", text], ["code", int32(code)], ["codeName", name]]);
}

/** In the form in which it was asked. */
function wrap(to: number, id: number, operation: number, document: Buffer): Buffer {
  const isMessage = operation === OPERATION.message;
  const before = isMessage ? Buffer.alloc(5) : Buffer.alloc(20);
  if (!isMessage) {
    before.writeInt32LE(8, 0);
    before.writeInt32LE(1, 16);
  }
  const header = Buffer.alloc(HEADER_OCTETS);
  [HEADER_OCTETS + before.length + document.length, id, to, isMessage ? OPERATION.message : OPERATION.reply].forEach((value, index) => header.writeInt32LE(value, 4 * index));
  return Buffer.concat([header, before, document]);
}
