/** Keys of Initial packets: everyone who sees the client's first one can make them. @see RFC 9001 section 5.2, RFC 9369 section 3.3 */
import { createHmac } from "node:crypto";
import { QUIC_VERSION } from "../../recognition/recognize-datagram.ts";

/** Keys of one direction. */
export interface InitialKeys {
  readonly key: Uint8Array;
  readonly iv: Uint8Array;
  /** For header protection. */
  readonly hp: Uint8Array;
}

/** Of both directions. */
export interface InitialKeyPair {
  readonly client: InitialKeys;
  readonly server: InitialKeys;
}

const SALT_V1 = Buffer.from("38762cf7f55934b34d179ae6a4c80cadccbb7f0a", "hex");
const SALT_V2 = Buffer.from("0dede3def700a6db819381be6e269dcbf9bd2ed9", "hex");

/** @param connectionId The destination of the client's first Initial packet. */
export function deriveInitialKeys(version: number, connectionId: Uint8Array): InitialKeyPair {
  const isV2 = version === QUIC_VERSION.v2;
  const initial = createHmac("sha256", isV2 ? SALT_V2 : SALT_V1).update(connectionId).digest();
  const prefix = isV2 ? "quicv2" : "quic";
  const keysOf = (label: string): InitialKeys => {
    const secret = expandLabel(initial, label, 32);
    return { key: expandLabel(secret, `${prefix} key`, 16), iv: expandLabel(secret, `${prefix} iv`, 12), hp: expandLabel(secret, `${prefix} hp`, 16) };
  };
  return { client: keysOf("client in"), server: keysOf("server in") };
}

/** HKDF-Expand-Label with an empty context, of at most one block. @see RFC 8446 section 7.1, RFC 5869 section 2.3 */
function expandLabel(secret: Uint8Array, label: string, length: number): Uint8Array {
  const text = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.from([length >> 8, length & 0xff, text.length]), text, Buffer.from([0, 1])]);
  return createHmac("sha256", secret).update(info).digest().subarray(0, length);
}
