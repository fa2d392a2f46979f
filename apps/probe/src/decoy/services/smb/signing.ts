/** How messages of a session are signed. @see MS-SMB2 sections 3.1.4.1 and 3.1.4.2 */
import { createCipheriv, createHmac } from "node:crypto";
import type { SignMessage } from "./message.ts";

const BLOCK_OCTETS = 16;
/** Of the field for the highest bit that was shifted out. @see RFC 4493 section 2.3 */
const CARRY = 0x87;

/** @param sessionKey Sixteen octets of the login. @param hash Of the messages before the session, which 3.1.1 makes its key of. */
export function createSigner(dialect: number, sessionKey: Buffer, hash: Buffer): SignMessage {
  if (dialect < 0x0300) return (message) => createHmac("sha256", sessionKey).update(message).digest().subarray(0, BLOCK_OCTETS);
  const key = dialect === 0x0311 ? deriveKey(sessionKey, "SMBSigningKey\0", hash) : deriveKey(sessionKey, "SMB2AESCMAC\0", Buffer.from("SmbSign\0", "latin1"));
  return aesCmac(key);
}

/** @see NIST SP 800-108 section 5.1, with HMAC of SHA-256 and a counter of 32 bits */
function deriveKey(key: Buffer, label: string, context: Buffer): Buffer {
  return createHmac("sha256", key).update(Buffer.from([0, 0, 0, 1])).update(label, "latin1").update(Buffer.from([0])).update(context).update(Buffer.from([0, 0, 0, 128])).digest().subarray(0, BLOCK_OCTETS);
}

/** @returns What signs with this key. @see RFC 4493 */
export function aesCmac(key: Buffer): SignMessage {
  const encrypt = (bytes: Buffer) => {
    // The last block of a chain that begins with zeros.
    const cipher = createCipheriv("aes-128-cbc", key, Buffer.alloc(BLOCK_OCTETS)).setAutoPadding(false);
    return Buffer.concat([cipher.update(bytes), cipher.final()]).subarray(-BLOCK_OCTETS);
  };
  const first = double(encrypt(Buffer.alloc(BLOCK_OCTETS)));
  const second = double(first);
  return (message) => {
    const isWhole = message.length > 0 && message.length % BLOCK_OCTETS === 0;
    const padded = isWhole ? Buffer.from(message) : Buffer.concat([message, Buffer.from([0x80]), Buffer.alloc(BLOCK_OCTETS - 1 - message.length % BLOCK_OCTETS)]);
    const mask = isWhole ? first : second;
    const last = padded.length - BLOCK_OCTETS;
    for (let at = 0; at < BLOCK_OCTETS; at += 1) padded[last + at] = (padded[last + at] ?? 0) ^ (mask[at] ?? 0);
    return encrypt(padded);
  };
}

function double(block: Buffer): Buffer {
  const out = Buffer.alloc(BLOCK_OCTETS);
  for (let at = 0; at < BLOCK_OCTETS; at += 1) out[at] = (block[at] ?? 0) << 1 | (block[at + 1] ?? 0) >>> 7;
  if (((block[0] ?? 0) & 0x80) !== 0) out[BLOCK_OCTETS - 1] = (out[BLOCK_OCTETS - 1] ?? 0) ^ CARRY;
  return out;
}
