import { createPcapWriter, encodeEthernet, encodeIpv4, encodeTcp, ETHER_TYPE, IP_PROTOCOL, LINK_TYPE, TCP_FLAG } from "@lanthorn/packets";

const CLIENT = Uint8Array.of(192, 0, 2, 1);
const SERVER = Uint8Array.of(198, 51, 100, 9);
const AT = 1_700_000_000;

/** A connection to port 80 as a pcap file, a frame each millisecond: what the client says, each acknowledged, and what the server answers. */
export function webCapture(requests: readonly string[], answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"): Buffer {
  const writer = createPcapWriter({ linkType: LINK_TYPE.ethernet, snapLength: 65_535 });
  const records: Uint8Array[] = [writer.header()];
  const next = { client: 1000, server: 500_000 };
  const send = (isClient: boolean, flags: number, text = "") => {
    const [source, destination] = isClient ? [CLIENT, SERVER] : [SERVER, CLIENT];
    const payload = Buffer.from(text, "latin1");
    const [own, peer] = isClient ? (["client", "server"] as const) : (["server", "client"] as const);
    const segment = encodeTcp({
      sourcePort: isClient ? 40_000 : 80, destinationPort: isClient ? 80 : 40_000, sequenceNumber: next[own], acknowledgmentNumber: (flags & TCP_FLAG.ack) === 0 ? 0 : next[peer], flags,
      window: 64_000, payload,
    }, { source, destination });
    const bytes = encodeEthernet({
      source: Uint8Array.of(2, 0, 0, 0, 0, isClient ? 1 : 2), destination: Uint8Array.of(2, 0, 0, 0, 0, isClient ? 2 : 1), etherType: ETHER_TYPE.ipv4,
      payload: encodeIpv4({ protocol: IP_PROTOCOL.tcp, source, destination, payload: segment }),
    });
    records.push(writer.record({ seconds: AT, nanoseconds: records.length * 1_000_000, bytes, originalLength: bytes.length }));
    next[own] += payload.length + ((flags & (TCP_FLAG.syn | TCP_FLAG.fin)) === 0 ? 0 : 1);
  };
  send(true, TCP_FLAG.syn);
  send(false, TCP_FLAG.syn | TCP_FLAG.ack);
  send(true, TCP_FLAG.ack);
  for (const request of requests) {
    send(true, TCP_FLAG.ack | TCP_FLAG.psh, request);
    send(false, TCP_FLAG.ack);
  }
  send(false, TCP_FLAG.ack | TCP_FLAG.psh, answer);
  send(true, TCP_FLAG.ack);
  send(true, TCP_FLAG.fin | TCP_FLAG.ack);
  send(false, TCP_FLAG.fin | TCP_FLAG.ack);
  send(true, TCP_FLAG.ack);
  return Buffer.concat(records);
}
