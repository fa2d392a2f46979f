/** A capture of a small office for who has no file: web pages, names, pings, backups, a scan. Made, but as the real ones are. */
import {
  createPcapWriter, encodeEthernet, encodeIcmpv4, encodeIpv4, encodeIpv6, encodeTcp, encodeUdp, ETHER_TYPE, IP_PROTOCOL, LINK_TYPE, TCP_FLAG,
} from "@lanthorn/packets";
import type { seededRandom } from "@lanthorn/runtime";

type Random = () => number;
interface Ends {
  readonly client: Uint8Array;
  readonly server: Uint8Array;
  readonly clientPort: number;
  readonly serverPort: number;
}

const MTU_PAYLOAD = 1448;
const REQUEST = new TextEncoder().encode("GET /index.html HTTP/1.1\r\nHost: intranet.example\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n");
const NAME_QUERY = Uint8Array.of(0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 8, 0x69, 0x6e, 0x74, 0x72, 0x61, 0x6e, 0x65, 0x74, 7, 0x65, 0x78, 0x61, 0x6d, 0x70, 0x6c, 0x65, 0, 0, 1, 0, 1);

/** Writes at least `frames` frames. @returns A pcap file's bytes. */
export function makeFlowsCapture(frames: number, draw: ReturnType<typeof seededRandom>): Uint8Array {
  const random: Random = () => draw(2 ** 32) / 2 ** 32;
  const writer = createPcapWriter({ linkType: LINK_TYPE.ethernet, resolution: "microseconds" });
  const chunks: Uint8Array[] = [writer.header()];
  let at = 1_700_000_000_000_000;
  // Many conversations at once, each a list of frames that are still to come.
  const open: Uint8Array[][] = [];
  while (chunks.length <= frames) {
    while (open.length < 200) open.push(makeConversation(random).toReversed());
    const index = Math.floor(random() * open.length);
    const frame = open[index]?.pop();
    if (frame === undefined) open.splice(index, 1);
    else {
      at += Math.floor(random() * 100);
      chunks.push(writer.record({ seconds: Math.floor(at / 1e6), nanoseconds: (at % 1e6) * 1000, bytes: frame }));
    }
  }
  return Buffer.concat(chunks);
}

function pageHead(length: number): Uint8Array {
  return new TextEncoder().encode(`HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/html\r\nContent-Length: ${length}\r\n\r\n`);
}

function makeConversation(random: Random): Uint8Array[] {
  const isIpv6 = random() < 0.2;
  const host = () => 2 + Math.floor(random() * 250);
  const address = () => (isIpv6 ? Uint8Array.of(0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Math.floor(random() * 4), host()) : Uint8Array.of(10, 0, Math.floor(random() * 4), host()));
  const ends: Ends = { client: address(), server: address(), clientPort: 32_768 + Math.floor(random() * 28_000), serverPort: 80 };
  const kind = random();
  if (kind < 0.25) return [...datagrams({ ...ends, serverPort: 53 })];
  if (kind < 0.3) return pings(ends);
  if (kind < 0.4) return [segment(ends, true, { flags: TCP_FLAG.syn, sequence: 1, acknowledgment: 0 }), segment(ends, false, { flags: TCP_FLAG.rst | TCP_FLAG.ack, sequence: 0, acknowledgment: 2 })];
  return stream(ends, kind < 0.95 ? Math.floor(random() * 40_000) : 400_000, random);
}

function datagrams({ client, server, clientPort, serverPort }: Ends): Uint8Array[] {
  const reply = NAME_QUERY.slice();
  reply[2] = 0x81;
  return [
    wrap(client, server, IP_PROTOCOL.udp, encodeUdp({ sourcePort: clientPort, destinationPort: serverPort, payload: NAME_QUERY }, { source: client, destination: server })),
    wrap(server, client, IP_PROTOCOL.udp, encodeUdp({ sourcePort: serverPort, destinationPort: clientPort, payload: reply }, { source: server, destination: client })),
  ];
}

function pings({ client, server, clientPort: identifier }: Ends): Uint8Array[] {
  if (client.length !== 4) return [];
  const echo = (kind: "echo-request" | "echo-reply") => encodeIcmpv4({ kind, identifier, sequenceNumber: 1, data: new Uint8Array(48) });
  return [wrap(client, server, IP_PROTOCOL.icmpv4, echo("echo-request")), wrap(server, client, IP_PROTOCOL.icmpv4, echo("echo-reply"))];
}

function stream(ends: Ends, bytes: number, random: Random): Uint8Array[] {
  const { ack, psh, syn, fin } = TCP_FLAG;
  const [mine, theirs] = [Math.floor(random() * 0xffff_ffff), Math.floor(random() * 0xffff_ffff)];
  const up = (flags: number, sequence: number, acknowledgment: number, payload?: Uint8Array) => segment(ends, true, { flags, sequence, acknowledgment, payload });
  const down = (flags: number, sequence: number, acknowledgment: number, payload?: Uint8Array) => segment(ends, false, { flags, sequence, acknowledgment, payload });
  const frames = [up(syn, mine, 0), down(syn | ack, theirs, mine + 1), up(ack, mine + 1, theirs + 1), up(psh | ack, mine + 1, theirs + 1, REQUEST)];
  const asked = mine + 1 + REQUEST.length;
  const head = pageHead(bytes);
  const page = new Uint8Array(head.length + bytes).fill(0x20);
  page.set(head);
  for (let at = 0; at < page.length; at += MTU_PAYLOAD) {
    const sent = page.subarray(at, at + MTU_PAYLOAD);
    frames.push(down(ack, theirs + 1 + at, asked, sent));
    // Some are lost behind the mirror and come again.
    if (random() < 0.01) frames.push(down(ack, theirs + 1 + at, asked, sent));
    if (at % (2 * MTU_PAYLOAD) === 0) frames.push(up(ack, asked, theirs + 1 + at + sent.length));
  }
  const end = theirs + 1 + page.length;
  frames.push(down(fin | ack, end, asked), up(fin | ack, asked, end + 1), down(ack, end + 1, asked + 1));
  return frames;
}

interface Segment {
  readonly flags: number;
  readonly sequence: number;
  readonly acknowledgment: number;
  readonly payload?: Uint8Array | undefined;
}

function segment({ client, server, clientPort, serverPort }: Ends, isUp: boolean, { flags, sequence, acknowledgment, payload }: Segment): Uint8Array {
  const [source, destination] = isUp ? [client, server] : [server, client];
  return wrap(source, destination, IP_PROTOCOL.tcp, encodeTcp({
    sourcePort: isUp ? clientPort : serverPort, destinationPort: isUp ? serverPort : clientPort, flags, window: 64_240, sequenceNumber: sequence >>> 0,
    acknowledgmentNumber: acknowledgment >>> 0, ...(payload && { payload }),
  }, { source, destination }));
}

function wrap(source: Uint8Array, destination: Uint8Array, protocol: number, payload: Uint8Array): Uint8Array {
  const mac = (address: Uint8Array) => Uint8Array.of(2, 0, 0, 0, address.at(-2) ?? 0, address.at(-1) ?? 0);
  const isIpv4 = source.length === 4;
  const packet = { protocol, source, destination, payload };
  return encodeEthernet({
    source: mac(source), destination: mac(destination), etherType: isIpv4 ? ETHER_TYPE.ipv4 : ETHER_TYPE.ipv6,
    payload: isIpv4 ? encodeIpv4(packet) : encodeIpv6(packet),
  });
}
