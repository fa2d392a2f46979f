/** TLS: hellos, certificates and alerts, as far as they are in clear. @see RFC 8446 sections 4 and 5, RFC 5246 sections 6 and 7 */
import { decodeCertificateChain, type TlsCertificate } from "./tls/certificate.ts";
import { decodeClientHello, type TlsClientHello } from "./tls/client-hello.ts";
import { createHandshakeJoiner, type HandshakeJoiner } from "./tls/handshake-joiner.ts";
import { decodeServerHello, type TlsServerHello } from "./tls/server-hello.ts";
import type { Hold, Intake, MessageOrigin, StreamParser } from "./stream-parser.ts";

interface TlsOrigin extends MessageOrigin {
  readonly protocol: "tls";
}

/** What a side says before all is encrypted. */
export type TlsMessage =
  | (TlsOrigin & { readonly kind: "client-hello"; readonly hello: TlsClientHello })
  | (TlsOrigin & { readonly kind: "server-hello"; readonly hello: TlsServerHello })
  /** Of TLS 1.2 and before; later ones are encrypted. The end entity's is the first. Clients send them too. */
  | (TlsOrigin & { readonly kind: "certificates"; readonly certificates: readonly TlsCertificate[] })
  /** In clear. RFC 8446 section 6. */
  | (TlsOrigin & { readonly kind: "alert"; readonly level: number; readonly description: number });

const RECORD = { changeCipherSpec: 20, alert: 21, handshake: 22, applicationData: 23 } as const;
const HANDSHAKE = { clientHello: 1, serverHello: 2, certificate: 11 } as const;
const HEADER_LENGTH = 5;
/** Of a record's payload, with what encryption adds. RFC 5246 section 6.2.3. */
const MAX_RECORD_BYTES = 0x4800;
const TLS_1_3 = 0x0304;
/** Hellos and chains of one side that are decoded: a connection has two hellos at most, and one chain. */
const MAX_DECODED = 4;

/** @returns The parser of one connection, from its first record or from where it was joined. */
export function createTlsParser(emit: (message: TlsMessage) => void, hold: Hold): StreamParser {
  const joiners: readonly [HandshakeJoiner, HandshakeJoiner] = [createHandshakeJoiner(hold), createHandshakeJoiner(hold)];
  const decoded = [0, 0];
  /** A second ClientHello follows, perhaps behind a ChangeCipherSpec that means nothing. */
  let isRetried = false;

  function onHandshake(intake: Intake, type: number, body: Uint8Array, at: number): void {
    const { side } = intake;
    if (intake.isOver || (type !== HANDSHAKE.clientHello && type !== HANDSHAKE.serverHello && type !== HANDSHAKE.certificate)) return;
    const count = (decoded[side] ?? 0) + 1;
    decoded[side] = count;
    intake.isOver = count > MAX_DECODED;
    if (intake.isOver) return;
    if (type === HANDSHAKE.clientHello) {
      const hello = decodeClientHello(body, "tcp");
      if (hello) emit({ protocol: "tls", kind: "client-hello", side, at, hello });
    } else if (type === HANDSHAKE.serverHello) {
      const hello = decodeServerHello(body);
      if (!hello) return;
      emit({ protocol: "tls", kind: "server-hello", side, at, hello });
      isRetried = hello.isHelloRetryRequest;
      // The rest is encrypted.
      intake.isOver = hello.version >= TLS_1_3 && !isRetried;
    } else if (type === HANDSHAKE.certificate) {
      const certificates = decodeCertificateChain(body);
      if (certificates.length > 0) emit({ protocol: "tls", kind: "certificates", side, at, certificates });
    }
  }

  function readRecord(intake: Intake, type: number, payload: Uint8Array, at: number): void {
    switch (type) {
      case RECORD.handshake:
        if (!joiners[intake.side].join(payload, (messageType, body) => onHandshake(intake, messageType, body, at))) intake.isOver = true;
        break;
      case RECORD.alert:
        if (payload.length === 2) {
          const [level = 0, description = 0] = payload;
          emit({ protocol: "tls", kind: "alert", side: intake.side, at, level, description });
        }
        intake.isOver = true;
        break;
      case RECORD.changeCipherSpec:
        intake.isOver = !isRetried;
        break;
      default:
        intake.isOver = true;
    }
  }

  return {
    maxPendingBytes: HEADER_LENGTH + MAX_RECORD_BYTES,
    releasedTo: "",
    read(intake, bytes, at) {
      intake.needed = HEADER_LENGTH;
      if (bytes.length < HEADER_LENGTH) return 0;
      const [type = 0, major = 0] = bytes;
      const length = ((bytes[3] as number) << 8) | (bytes[4] as number);
      if (type < RECORD.changeCipherSpec || type > RECORD.applicationData || major !== 3 || length > MAX_RECORD_BYTES) {
        intake.isOver = true;
        return 0;
      }
      if (type === RECORD.applicationData) {
        intake.isOver = true;
        return 0;
      }
      intake.needed = HEADER_LENGTH + length;
      if (bytes.length < HEADER_LENGTH + length) return 0;
      intake.needed = HEADER_LENGTH;
      readRecord(intake, type, bytes.subarray(HEADER_LENGTH, HEADER_LENGTH + length), at);
      return HEADER_LENGTH + length;
    },
    gap: () => false,
    end: () => undefined,
  };
}
