/** QUIC versions 1 and 2: the hellos in Initial packets. @see RFC 9000 section 17.2.2, RFC 9001 sections 4 and 5, RFC 9369 */
import { type CryptoStream, createCryptoStream } from "./quic/crypto-stream.ts";
import { decryptInitial } from "./quic/decrypt.ts";
import { deriveInitialKeys, type InitialKeyPair } from "./quic/initial-keys.ts";
import { type LongPacket, splitLongPackets } from "./quic/long-packet.ts";
import type { DatagramParser, Hold, MessageOrigin, Pay } from "./stream-parser.ts";
import { decodeClientHello, type TlsClientHello } from "./tls/client-hello.ts";
import { createHandshakeJoiner, type HandshakeJoiner } from "./tls/handshake-joiner.ts";
import { decodeServerHello, type TlsServerHello } from "./tls/server-hello.ts";
import { KEYS_COST } from "../work-account.ts";

interface QuicOrigin extends MessageOrigin {
  readonly protocol: "quic";
  /** 1, or 0x6b3343cf for version 2. */
  readonly version: number;
}

/** A hello, as of TLS 1.3; JA4 of the client begins with `q`. */
export type QuicMessage =
  | (QuicOrigin & { readonly kind: "client-hello"; readonly hello: TlsClientHello })
  | (QuicOrigin & { readonly kind: "server-hello"; readonly hello: TlsServerHello });

const HANDSHAKE = { clientHello: 1, serverHello: 2 } as const;
/** Packets that are tried to be decrypted; hellos take a few each. */
const MAX_INITIALS = 32;
/** Hellos that are decoded, of both sides: two each with a HelloRetryRequest. */
const MAX_HELLOS = 4;
/** Datagrams behind the client's hello that the server may take to answer in what we see. */
const MAX_DATAGRAMS = 64;
/** Of a datagram that begins a connection: servers discard shorter ones. RFC 9000 section 14.1. */
const MIN_FIRST_BYTES = 1200;

interface QuicSide {
  readonly stream: CryptoStream;
  readonly joiner: HandshakeJoiner;
}

/** @returns The parser of one flow of datagrams; it is over where there are too many connections to make keys for all. */
export function createQuicParser(emit: (message: QuicMessage) => void, hold: Hold, pay: Pay): DatagramParser {
  let keys: InitialKeyPair | null = null;
  let client: 0 | 1 = 0;
  let sides: readonly [QuicSide, QuicSide] = [createSide(hold), createSide(hold)];
  let initials = 0;
  let datagrams = 0;
  let hellos = 0;
  let hasClientHello = false;
  let isOver = false;

  /** The client's packets are opened with the keys of the first; behind a Retry with those of the one that follows it. RFC 9001 section 5.2. */
  function open(side: 0 | 1, packet: LongPacket, mayBegin: boolean, at: number): Uint8Array | null {
    if (keys !== null) {
      const frames = decryptInitial(packet, side === client ? keys.client : keys.server);
      if (frames !== null) return frames;
    }
    if (!mayBegin) return null;
    isOver = !pay(KEYS_COST - packet.bytes.length, at);
    if (isOver) return null;
    const made = deriveInitialKeys(packet.version, packet.destinationId);
    const frames = decryptInitial(packet, made.client);
    if (frames === null) return null;
    keys = made;
    client = side;
    sides = [createSide(hold), createSide(hold)];
    return frames;
  }

  function onHandshake(side: 0 | 1, packet: LongPacket, type: number, body: Uint8Array, at: number): void {
    const origin = { protocol: "quic", version: packet.version, side, at } as const;
    if (isOver) return;
    if (type === HANDSHAKE.clientHello || type === HANDSHAKE.serverHello) hellos += 1;
    isOver = hellos > MAX_HELLOS;
    if (type === HANDSHAKE.clientHello && side === client && !hasClientHello) {
      const hello = decodeClientHello(body, "quic");
      if (hello) emit({ ...origin, kind: "client-hello", hello });
      hasClientHello = hello !== null;
    } else if (type === HANDSHAKE.serverHello && side !== client) {
      const hello = decodeServerHello(body);
      if (hello) emit({ ...origin, kind: "server-hello", hello });
      hasClientHello &&= hello?.isHelloRetryRequest !== true;
      isOver = hello?.isHelloRetryRequest !== true;
    }
  }

  return {
    get isOver() {
      return isOver;
    },
    read(side, bytes, at) {
      datagrams += 1;
      // Keys are derived for the first packet only: they cost more than all else here.
      let mayBegin = bytes.length >= MIN_FIRST_BYTES;
      for (const packet of splitLongPackets(bytes)) {
        if (packet.type !== "initial" || isOver) continue;
        initials += 1;
        const frames = open(side, packet, mayBegin, at);
        mayBegin = false;
        if (frames === null) continue;
        const { stream, joiner } = sides[side];
        stream.take(frames, (data) => {
          if (!joiner.join(data, (type, body) => onHandshake(side, packet, type, body, at))) isOver = true;
        });
      }
      isOver ||= initials >= MAX_INITIALS || datagrams >= MAX_DATAGRAMS;
    },
  };
}

function createSide(hold: Hold): QuicSide {
  return { stream: createCryptoStream(hold), joiner: createHandshakeJoiner(hold) };
}
