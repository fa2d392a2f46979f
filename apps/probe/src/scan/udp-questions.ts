import { RAW_FRAME_OCTETS } from "@lanthorn/packet-io";
import { UDP_PROTOCOLS } from "../identify/protocols.ts";
import type { UdpQuestion } from "./scan-udp.ts";

/** What fits into one frame of the sender, behind the headers of Ethernet, IPv6 and UDP. */
const LONGEST_PAYLOAD = RAW_FRAME_OCTETS - 62;
const MOST_PAYLOADS = 2;

/**
 * What ports are asked by: the questions of the protocols that are usual there.
 * @param random Below 1.
 */
export function udpQuestions(ports: readonly number[], random: () => number): readonly UdpQuestion[] {
  return ports.flatMap((port) => {
    const protocols = UDP_PROTOCOLS.filter((protocol) => protocol.ports.includes(port));
    const payloads = protocols.flatMap(({ questions }) => questions.map((question) => question(random)))
      .filter(({ length }) => length <= LONGEST_PAYLOAD).slice(0, MOST_PAYLOADS);
    return payloads.length === 0 ? [] : [{ port, payloads, answersFromAnyPort: protocols.some((one) => one.answersFromAnyPort === true) }];
  });
}
