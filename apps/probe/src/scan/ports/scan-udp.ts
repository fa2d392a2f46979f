import type { PortCounts } from "@lanthorn/contract/uplink";
import type { Clock } from "@lanthorn/runtime";
import { DHCP_PORT, ipv4Number } from "@lanthorn/packets";
import { wordAt } from "../../probing/frames/frame-words.ts";
import type { UdpRequest } from "../../probing/frames/udp-requests.ts";
import { noCounts } from "./port-counts.ts";
import type { PacketSource, HostTarget } from "../../probing/frames/packet.ts";
import { createUdpWriter } from "../../probing/frames/packet-writers.ts";
import type { ScanLink } from "../../probing/scan-link.ts";
import { createScanPump } from "../../probing/scan-pump.ts";
import { createScanRate } from "../../probing/scan-rate.ts";
import { type AnswerKey, type FrameView, IPV4, payloadAt, protocolOf, readError, readError6, sourceNumber, UDP } from "../../probing/frames/tcp-answers.ts";

/** A datagram may be lost, and a device may limit its answers to one a second. */
const ROUNDS = 3;
const ROUND_MS = 450;
/** Few hosts refuse faster, and nothing but an answer counts. */
const HOST_RATE = 50;
const FIRST_DRAWN_PORT = 1024;

/** @see RFC 792, RFC 4443 section 3.1 */
const PORT_UNREACHABLE = 3;
const PORT_UNREACHABLE6 = 4;

/** What came back of a datagram, in nmap's words; nothing is `open|filtered`. */
type UdpState = "open" | "closed" | "filtered";
const STATES: readonly UdpState[] = ["open", "closed", "filtered"];

/**
 * Asks UDP ports by questions of their protocols. Only who answers is open; who refuses by ICMP is closed or filtered and not asked
 * again; silence is `open|filtered`.
 * @param options.onPort Each open port once, as it answers.
 * @returns How many ports of each host are in which state, in the hosts' order.
 * @throws PacketIoError of sending, and the signal's reason.
 */
export async function scanUdp(options: {
  readonly link: ScanLink;
  readonly source: PacketSource;
  readonly hosts: readonly HostTarget[];
  readonly questions: readonly UdpRequest[];
  readonly framesPerSecond: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onPort: (host: HostTarget, port: number) => void;
}): Promise<readonly PortCounts[]> {
  const { hosts, questions, clock, link } = options;
  const settled = new Uint8Array(hosts.length * questions.length);
  const hostIndex = new Map(hosts.map(({ ip }, index) => [ip, index]));
  const questionIndex = new Map(questions.map(({ port }, index) => [port, index]));
  const drawn = questions.findIndex(({ answersFromAnyPort }) => answersFromAnyPort);
  const write = createUdpWriter(options.source);
  const settle = (ip: number, question: number, state: UdpState) => {
    const host = hostIndex.get(ip);
    if (host === undefined || question < 0 || settled[host * questions.length + question] !== 0) return;
    settled[host * questions.length + question] = 1 + STATES.indexOf(state);
    if (state === "open") options.onPort(hosts[host] as HostTarget, (questions[question] as UdpRequest).port);
  };
  const onFrame = (bytes: Uint8Array, offset: number, length: number) => {
    readUdpAnswer({ bytes, offset, length }, link, (ip, port, state) => {
      const question = questionIndex.get(port) ?? (state === "open" && port >= FIRST_DRAWN_PORT ? drawn : -1);
      settle(ip, question, state);
    });
  };
  const pump = createScanPump({ link, clock, signal: options.signal, onFrame });
  const most = Math.min(options.framesPerSecond, hosts.length * HOST_RATE);
  const rate = createScanRate({ first: most, most, least: 100 });
  for (let round = 0; round < ROUNDS; round += 1) {
    let place = 0;
    let payload = 0;
    await pump.send((bytes, at) => {
      const host = hosts[place % hosts.length];
      const question = questions[Math.floor(place / hosts.length)];
      if (!host || !question) return -1;
      const isSettled = settled[(place % hosts.length) * questions.length + Math.floor(place / hosts.length)] !== 0;
      const next = isSettled ? undefined : question.payloads[payload];
      payload += 1;
      if (payload >= question.payloads.length || !next) {
        payload = 0;
        place += 1;
      }
      return next ? write(bytes, at, host, { port: question.port, payload: next }) : 0;
    }, rate);
    await pump.listen(ROUND_MS, () => settled.every((one) => one !== 0));
  }
  return hosts.map((_, host) => {
    const counts = noCounts();
    for (const one of settled.subarray(host * questions.length, (host + 1) * questions.length)) {
      counts[STATES[one - 1] ?? "open|filtered"] += 1;
    }
    return counts;
  });
}

/** Reads a datagram to our port, or an ICMP error about one of ours. @param take Told the host's number, its port and state. */
export function readUdpAnswer(
  frame: FrameView, link: Pick<AnswerKey, "port" | "book">, take: (ip: number, port: number, state: UdpState) => void,
): void {
  const { bytes, offset } = frame;
  const at = payloadAt(frame);
  if (at < 0) return;
  const isIpv4 = wordAt(bytes, offset + 12) === IPV4;
  const protocol = protocolOf(frame);
  if (protocol === UDP) {
    const [from, to] = [wordAt(bytes, at), wordAt(bytes, at + 2)];
    if (to === link.port || (to === DHCP_PORT.client && from === DHCP_PORT.server)) take(sourceNumber(frame, link.book), from, "open");
    return;
  }
  const about = isIpv4 ? readError(frame, at, protocol) : readError6(frame, at, protocol);
  if (!about || about.protocol !== UDP || wordAt(bytes, about.at) !== link.port) return;
  const isClosed = about.code === (isIpv4 ? PORT_UNREACHABLE : PORT_UNREACHABLE6);
  take(
    isIpv4 ? ipv4Number(bytes, about.addressAt) : link.book.find(bytes, about.addressAt), wordAt(bytes, about.at + 2),
    isClosed ? "closed" : "filtered",
  );
}
