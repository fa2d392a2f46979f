// What SMB's messages lie in: the session service of NetBIOS, whose set-up port 139 wants. @see RFC 1002 section 4.3, MS-SMB2 2.1
import type { Connection } from "../connection.ts";
import { SHORT_ANSWER_MS } from "../protocol.ts";

/** TCP. Here a session is requested before SMB speaks; port 445 needs none. */
export const NETBIOS_PORT = 139;
/** Type of the packet that grants a session. @see RFC 1002 section 4.3.3 */
export const POSITIVE_RESPONSE = 0x82;
const SESSION_REQUEST = 0x81;

/** The parts as one session message, behind a zero byte and their length in 24 bits. @see MS-SMB2 2.1 */
export function inSession(...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const frame = Buffer.alloc(4);
  frame.writeUInt32BE(body.length);
  return Buffer.concat([frame, body]);
}

/** To the name that every file server answers to. */
export function encodeSessionRequest(): Buffer {
  // Half bytes as letters. @see RFC 1001 section 14.1
  const halves = (text: string) => Array.from(Buffer.from(text.padEnd(16))).flatMap((byte) => [65 + (byte >> 4), 65 + (byte & 15)]);
  const name = (text: string) => Buffer.from([0x20, ...halves(text), 0]);
  const names = Buffer.concat([name("*SMBSERVER"), name("LANTHORN")]);
  return Buffer.concat([Buffer.from([SESSION_REQUEST, 0, 0, names.length]), names]);
}

/** Whether the packet's header and all that its length names were received. */
export function isWholeFrame(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && bytes.length >= 4 + ((bytes[1] ?? 0) << 16) + ((bytes[2] ?? 0) << 8) + (bytes[3] ?? 0);
}

/** @returns Less than a frame where the peer ends or takes too long. */
export function readFrame(connection: Connection): Promise<Uint8Array> {
  return connection.read(isWholeFrame, SHORT_ANSWER_MS);
}
