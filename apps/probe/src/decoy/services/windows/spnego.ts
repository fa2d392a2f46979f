/** How NTLM is wrapped where a mechanism is chosen first. @see RFC 4178 section 4.2, MS-SPNG section 2.2.1 */
import { encodeObjectIdentifier, encodeTlv, readAll, readTlv } from "@lanthorn/packets";

const SPNEGO = "1.3.6.1.5.5.2";
const NTLMSSP = "1.3.6.1.4.1.311.2.2.10";
const TAG = { octets: 0x04, enumerated: 0x0a, general: 0x1b, sequence: 0x30, application: 0x60 } as const;
const [ACCEPT_COMPLETED, ACCEPT_INCOMPLETE] = [0, 1];
/** What Windows says where a server could say who it is. */
const HINT = "not_defined_in_RFC4178@please_ignore";

/** @returns What a server offers at first: NTLM alone. */
export function encodeSpnegoOffer(): Buffer {
  const mechanisms = tagged(0, encodeTlv(TAG.sequence, encodeObjectIdentifier(NTLMSSP)));
  const hint = tagged(3, encodeTlv(TAG.sequence, tagged(0, encodeTlv(TAG.general, Buffer.from(HINT)))));
  const offer = tagged(0, encodeTlv(TAG.sequence, Buffer.concat([mechanisms, hint])));
  return Buffer.from(encodeTlv(TAG.application, Buffer.concat([encodeObjectIdentifier(SPNEGO), offer])));
}

/** @returns A server's answer with its challenge. */
export function encodeSpnegoChallenge(challenge: Buffer): Buffer {
  return Buffer.from(tagged(1, encodeTlv(TAG.sequence, Buffer.concat([
    tagged(0, encodeTlv(TAG.enumerated, Uint8Array.of(ACCEPT_INCOMPLETE))), tagged(1, encodeObjectIdentifier(NTLMSSP)), tagged(2, encodeTlv(TAG.octets, challenge)),
  ]))));
}

/** @param mic Over the client's list of mechanisms; null for none. @returns A server's answer that lets the client in. */
export function encodeSpnegoAccept(mic: Uint8Array | null): Buffer {
  return Buffer.from(tagged(1, encodeTlv(TAG.sequence, Buffer.concat([
    tagged(0, encodeTlv(TAG.enumerated, Uint8Array.of(ACCEPT_COMPLETED))), mic ? tagged(3, encodeTlv(TAG.octets, mic)) : Buffer.alloc(0),
  ]))));
}

/** @param token The client's first one. @returns Its list of mechanisms as it stands there, over which it is signed; null where there is none. @see RFC 4178 section 4.2.1 */
export function findMechanisms(token: Uint8Array): Buffer | null {
  const whole = readTlv(token);
  if (whole?.tag !== TAG.application) return null;
  const init = readAll(whole.value).find(({ tag }) => tag === 0xa0);
  const fields = init && readTlv(init.value);
  const list = fields && readAll(fields.value).find(({ tag }) => tag === 0xa0);
  return list ? Buffer.from(list.value) : null;
}

/** An element of a context's own number. */
export function tagged(number: number, content: Uint8Array): Uint8Array {
  return encodeTlv(0xa0 + number, content);
}
