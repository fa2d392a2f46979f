/** TCP connections as frames, for tests only. */
import { encodeEthernet, encodeIpv4, encodeTcp, ETHER_TYPE, IP_PROTOCOL, TCP_FLAG } from "@lanthorn/packets";

/** A frame and its time in microseconds. */
export interface Packet {
  readonly frame: Uint8Array;
  readonly at: number;
}

/** One connection in the making; side 0 is the client. */
export interface Conversation {
  open(): Conversation;
  /** Segments of one side, each acknowledged by the other. */
  say(side: 0 | 1, ...texts: readonly string[]): Conversation;
  /** A segment at a place of a side's stream, from 0; what it says next is behind the farthest. */
  place(side: 0 | 1, at: number, text: string): Conversation;
  close(): Conversation;
  readonly packets: readonly Packet[];
}

const MACS = [Uint8Array.of(2, 0, 0, 0, 0, 1), Uint8Array.of(2, 0, 0, 0, 0, 2)] as const;
const START = 1_700_000_000_000_000;

/** @returns A connection from 192.0.2.1 to port `serverPort` of 198.51.100.9. */
export function conversation(serverPort = 9999, clientPort = 40_000): Conversation {
  const packets: Packet[] = [];
  const next: [number, number] = [1000, 500_000];
  const addresses = [Uint8Array.of(192, 0, 2, 1), Uint8Array.of(198, 51, 100, 9)] as const;
  const ports = [clientPort, serverPort] as const;
  const first: readonly [number, number] = [1001, 500_001];
  function send(side: 0 | 1, flags: number, text = "", sequence = next[side]): void {
    const peer = side === 0 ? 1 : 0;
    const payload = Buffer.from(text, "latin1");
    const ends = { source: addresses[side], destination: addresses[peer] };
    const segment = encodeTcp({
      sourcePort: ports[side], destinationPort: ports[peer], sequenceNumber: sequence, acknowledgmentNumber: (flags & TCP_FLAG.ack) === 0 ? 0 : next[peer], flags, window: 64_000, payload,
    }, ends);
    const frame = encodeEthernet({ source: MACS[side], destination: MACS[peer], etherType: ETHER_TYPE.ipv4, payload: encodeIpv4({ protocol: IP_PROTOCOL.tcp, ...ends, payload: segment }) });
    packets.push({ frame, at: START + packets.length * 1000 });
    next[side] = Math.max(next[side], sequence + payload.length + ((flags & (TCP_FLAG.syn | TCP_FLAG.fin)) === 0 ? 0 : 1));
  }
  const self: Conversation = {
    packets,
    open() {
      send(0, TCP_FLAG.syn);
      send(1, TCP_FLAG.syn | TCP_FLAG.ack);
      send(0, TCP_FLAG.ack);
      return self;
    },
    say(side, ...texts) {
      for (const text of texts) {
        send(side, TCP_FLAG.ack | TCP_FLAG.psh, text);
        send(side === 0 ? 1 : 0, TCP_FLAG.ack);
      }
      return self;
    },
    place(side, at, text) {
      send(side, TCP_FLAG.ack, text, first[side] + at);
      return self;
    },
    close() {
      send(0, TCP_FLAG.fin | TCP_FLAG.ack);
      send(1, TCP_FLAG.fin | TCP_FLAG.ack);
      send(0, TCP_FLAG.ack);
      return self;
    },
  };
  return self;
}

/** A SYN from an address and port of their own for each number below 2³². */
export function synFrame(number: number): Uint8Array {
  const ends = { source: Uint8Array.of(10, (number >>> 16) & 0xff, (number >>> 8) & 0xff, number & 0xff), destination: Uint8Array.of(198, 51, 100, 9) };
  const payload = encodeTcp({ sourcePort: 1024 + (number % 50_000), destinationPort: 80, sequenceNumber: number, acknowledgmentNumber: 0, flags: TCP_FLAG.syn, window: 64_000, payload: new Uint8Array(0) }, ends);
  return encodeEthernet({ source: MACS[0], destination: MACS[1], etherType: ETHER_TYPE.ipv4, payload: encodeIpv4({ protocol: IP_PROTOCOL.tcp, ...ends, payload }) });
}
