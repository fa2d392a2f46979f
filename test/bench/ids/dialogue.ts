/** Conversations made frame by frame: what the engines are held against each other with. */
import { createPcapWriter, encodeEthernet, encodeIpv4, encodeTcp, encodeUdp, ETHER_TYPE, IP_PROTOCOL, LINK_TYPE, parseIpv4, TCP_FLAG } from "@lanthorn/packets";

/** One frame, Ethernet, with its time in microseconds since 1970. */
export interface TimedFrame {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** Who speaks to whom; what is not given is as in `ENDS`. */
export interface DialogueEnds {
  readonly client: string;
  readonly server: string;
  readonly clientPort: number;
  readonly serverPort: number;
}

/** How one side's next bytes go out. */
export interface SayOptions {
  /** Octets a segment; the largest that an Ethernet frame holds unless given. */
  readonly segment?: number;
  /** The other side acknowledges each segment; it does unless this is false. */
  readonly isAcknowledged?: boolean;
}

/** Speaks TCP between two ends, every millisecond a segment. Each call adds frames and gives the dialogue back. */
export interface TcpDialogue {
  readonly frames: readonly TimedFrame[];
  handshake(): TcpDialogue;
  /** From the client. */
  up(payload: string | Uint8Array, options?: SayOptions): TcpDialogue;
  /** From the server. */
  down(payload: string | Uint8Array, options?: SayOptions): TcpDialogue;
  /** A bare acknowledgment of all. */
  acknowledge(from: "client" | "server"): TcpDialogue;
  /** Both sides end it in order. */
  close(): TcpDialogue;
  reset(from: "client" | "server"): TcpDialogue;
  /** Time passes. */
  wait(seconds: number): TcpDialogue;
  /** These bytes were sent, and the capture has them not. */
  lose(from: "client" | "server", octets: number): TcpDialogue;
}

const ENDS: DialogueEnds = { client: "10.0.0.5", server: "203.0.113.9", clientPort: 40_000, serverPort: 80 };
const BEGIN = 1_700_000_000_000_000;
const STEP = 1000;
const LARGEST = 1448;

/** @param ends Where they differ from a client at 10.0.0.5 and a web server at 203.0.113.9. */
export function createTcpDialogue(ends: Partial<DialogueEnds> = {}, beginAt = BEGIN): TcpDialogue {
  const { client, server, clientPort, serverPort } = { ...ENDS, ...ends };
  const frames: TimedFrame[] = [];
  const next = { client: 1000, server: 5000 };
  let at = beginAt;
  const send = (from: "client" | "server", flags: number, payload: Uint8Array = new Uint8Array()) => {
    const isClient = from === "client";
    const [source, destination] = isClient ? [addressOf(client), addressOf(server)] : [addressOf(server), addressOf(client)];
    const isSynchronizing = (flags & TCP_FLAG.syn) !== 0;
    frames.push({
      at, bytes: frameOf(source, destination, IP_PROTOCOL.tcp, encodeTcp({
        sourcePort: isClient ? clientPort : serverPort, destinationPort: isClient ? serverPort : clientPort, flags, window: 64_240, payload, sequenceNumber: next[from],
        acknowledgmentNumber: (flags & TCP_FLAG.ack) === 0 ? 0 : next[isClient ? "server" : "client"],
      }, { source, destination })),
    });
    at += STEP;
    next[from] += payload.length + (isSynchronizing || (flags & TCP_FLAG.fin) !== 0 ? 1 : 0);
  };
  const say = (from: "client" | "server", payload: string | Uint8Array, { segment = LARGEST, isAcknowledged = true }: SayOptions = {}) => {
    const bytes = typeof payload === "string" ? Buffer.from(payload, "latin1") : payload;
    for (let place = 0; place < bytes.length; place += segment) {
      send(from, TCP_FLAG.psh | TCP_FLAG.ack, bytes.subarray(place, place + segment));
      if (isAcknowledged) send(from === "client" ? "server" : "client", TCP_FLAG.ack);
    }
    return dialogue;
  };
  const dialogue: TcpDialogue = {
    frames,
    handshake() {
      send("client", TCP_FLAG.syn);
      send("server", TCP_FLAG.syn | TCP_FLAG.ack);
      send("client", TCP_FLAG.ack);
      return dialogue;
    },
    up: (payload, options) => say("client", payload, options),
    down: (payload, options) => say("server", payload, options),
    acknowledge(from) {
      send(from, TCP_FLAG.ack);
      return dialogue;
    },
    close() {
      send("client", TCP_FLAG.fin | TCP_FLAG.ack);
      send("server", TCP_FLAG.fin | TCP_FLAG.ack);
      send("client", TCP_FLAG.ack);
      return dialogue;
    },
    reset(from) {
      send(from, TCP_FLAG.rst | TCP_FLAG.ack);
      return dialogue;
    },
    wait(seconds) {
      at += Math.round(seconds * 1e6);
      return dialogue;
    },
    lose(from, octets) {
      next[from] += octets;
      return dialogue;
    },
  };
  return dialogue;
}

/** One datagram. */
export function datagram(isFromClient: boolean, payload: string | Uint8Array, at = BEGIN, ends: Partial<DialogueEnds> = {}): TimedFrame {
  const { client, server, clientPort, serverPort } = { ...ENDS, ...ends };
  const [source, destination] = isFromClient ? [addressOf(client), addressOf(server)] : [addressOf(server), addressOf(client)];
  const bytes = typeof payload === "string" ? Buffer.from(payload, "latin1") : payload;
  return {
    at, bytes: frameOf(source, destination, IP_PROTOCOL.udp, encodeUdp({
      sourcePort: isFromClient ? clientPort : serverPort, destinationPort: isFromClient ? serverPort : clientPort, payload: bytes,
    }, { source, destination })),
  };
}

/** A pcap file of frames, in the order given. */
export function pcapOf(frames: readonly TimedFrame[]): Uint8Array {
  const writer = createPcapWriter({ linkType: LINK_TYPE.ethernet, resolution: "microseconds" });
  return Buffer.concat([writer.header(), ...frames.map(({ at, bytes }) => writer.record({ seconds: Math.floor(at / 1e6), nanoseconds: (at % 1e6) * 1000, bytes }))]);
}

function addressOf(text: string): Uint8Array {
  const address = parseIpv4(text);
  if (!address) throw new TypeError(`${text} is no address of IPv4`);
  return address;
}

function frameOf(source: Uint8Array, destination: Uint8Array, protocol: number, payload: Uint8Array): Uint8Array {
  const mac = (address: Uint8Array) => Uint8Array.of(2, 0, 0, 0, address[2] ?? 0, address[3] ?? 0);
  return encodeEthernet({ source: mac(source), destination: mac(destination), etherType: ETHER_TYPE.ipv4, payload: encodeIpv4({ protocol, source, destination, payload }) });
}
