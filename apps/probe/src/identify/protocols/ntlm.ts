// NTLM's first two messages, in which a server names itself before the client does. @see MS-NLMP 2.2.1.1, 2.2.1.2
import { encodeTlv, Reader } from "@lanthorn/packets";

/** Unicode, target wanted, NTLM, extended security, target information, version. */
const FLAGS = 0x6208_8215;

/** How a server names itself in its challenge; what it leaves out is empty. @see MS-NLMP 2.2.1.2 */
export interface NtlmNames {
  readonly computer: string;
  readonly domain: string;
  readonly dnsName: string;
  /** As `10.0.17763`; empty where it does not say. */
  readonly version: string;
}

/** A message that names nobody. */
export function encodeNtlmNegotiate(): Buffer {
  const message = Buffer.alloc(32);
  message.write("NTLMSSP\0", 0, "latin1");
  message.writeUInt32LE(1, 8);
  message.writeUInt32LE(FLAGS >>> 0, 12);
  return message;
}

/** As NegTokenInit with NTLM as the one mechanism. @see RFC 4178 section 4.2 */
export function encodeSpnego(token: Uint8Array): Uint8Array {
  const ntlm = Buffer.from([0x06, 10, 0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 2, 10]);
  const body = encodeTlv(0x30, Buffer.concat([encodeTlv(0xa0, encodeTlv(0x30, ntlm)), encodeTlv(0xa2, encodeTlv(0x04, token))]));
  return encodeTlv(0x60, Buffer.concat([Buffer.from([0x06, 6, 0x2b, 6, 1, 5, 5, 2]), encodeTlv(0xa0, body)]));
}

/** Finds NTLM's challenge in whatever wraps it. @returns Null where there is none. */
export function decodeNtlmChallenge(bytes: Uint8Array): NtlmNames | null {
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf("NTLMSSP\0\x02", 0, "latin1");
  if (at === -1) return null;
  const reader = new Reader(bytes, at + 40);
  const length = reader.u16le();
  reader.u16le();
  const offset = reader.u32le();
  const [major, minor, build] = [reader.u8(), reader.u8(), reader.u16le()];
  if (reader.failed) return null;
  const info = new Reader(bytes, at + offset, at + offset + length);
  const texts = new Map<number, string>();
  for (let pairs = 0; pairs < 16 && info.remaining >= 4; pairs += 1) {
    const id = info.u16le();
    const value = info.take(info.u16le());
    if (id === 0 || info.failed) break;
    texts.set(id, Buffer.from(value).toString("utf16le").replaceAll("\0", ""));
  }
  const version = major === 0 ? "" : `${major}.${minor}.${build}`;
  return { computer: texts.get(1) ?? "", domain: texts.get(2) ?? "", dnsName: texts.get(3) ?? "", version };
}
