/** Takes the protection off Initial packets. @see RFC 9001 sections 5.3 and 5.4 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import type { InitialKeys } from "./initial-keys.ts";
import type { LongPacket } from "./long-packet.ts";

const SAMPLE_LENGTH = 16;
const TAG_LENGTH = 16;
/** The sample begins where the longest packet number would end. */
const MAX_NUMBER_LENGTH = 4;

/** @returns The frames in the packet, or null where these are not its keys. */
export function decryptInitial(packet: LongPacket, keys: InitialKeys): Uint8Array | null {
  const { bytes, numberAt } = packet;
  const sampleAt = numberAt + MAX_NUMBER_LENGTH;
  if (bytes.length < sampleAt + SAMPLE_LENGTH) return null;
  const cipher = createCipheriv("aes-128-ecb", keys.hp, null);
  const mask = cipher.update(bytes.subarray(sampleAt, sampleAt + SAMPLE_LENGTH));
  const first = (bytes[0] as number) ^ ((mask[0] as number) & 0x0f);
  const numberLength = (first & 3) + 1;
  const header = bytes.slice(0, numberAt + numberLength);
  header[0] = first;
  const nonce = Buffer.from(keys.iv);
  for (let index = 0; index < numberLength; index += 1) {
    const byte = (header[numberAt + index] as number) ^ (mask[index + 1] as number);
    header[numberAt + index] = byte;
    // Numbers of Initial packets are small: what is left out of them is 0. RFC 9000 section 17.1.
    const at = nonce.length - numberLength + index;
    nonce[at] = (nonce[at] as number) ^ byte;
  }
  return open(keys.key, nonce, header, bytes.subarray(header.length));
}

function open(key: Uint8Array, nonce: Uint8Array, header: Uint8Array, sealed: Uint8Array): Uint8Array | null {
  if (sealed.length < TAG_LENGTH) return null;
  const decipher = createDecipheriv("aes-128-gcm", key, nonce);
  decipher.setAAD(header);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_LENGTH));
  const plain = decipher.update(sealed.subarray(0, sealed.length - TAG_LENGTH));
  try {
    decipher.final();
    return plain;
  } catch {
    // Node says so that the tag is wrong.
    return null;
  }
}
