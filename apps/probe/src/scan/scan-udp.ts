import type { Clock } from "@lanthorn/runtime";
import { ipv4Number } from "../observe/address-prefix.ts";
import { type Asker, createUdpWriter, type HostTarget } from "./question-frames.ts";
import type { ScanLink } from "./scan-link.ts";
import { createScanPump } from "./scan-pump.ts";
import { createScanRate } from "./scan-rate.ts";

/** A port and what its protocol is asked by. */
export interface UdpQuestion {
  readonly port: number;
  /** At most 400 octets each. */
  readonly payloads: readonly Uint8Array[];
  /** Its answer comes from a port that the server draws, as TFTP's does. */
  readonly answersFromAnyPort: boolean;
}

/** A datagram may be lost, and a device may limit its answers to one a second. */
const ROUNDS = 3;
const ROUND_MS = 450;
/** Few hosts refuse faster, and nothing but an answer counts. */
const HOST_RATE = 50;
const FIRST_DRAWN_PORT = 1024;

const IPV4 = 0x0800;
const UDP = 17;
const ICMP = 1;

/**
 * Asks UDP ports by questions of their protocols. Only who answers is open; who refuses by ICMP is closed and not asked again; silence
 * is `open|filtered`, and not told.
 * @param options.onPort Each open port once, as it answers.
 * @throws PacketIoError of sending, and the signal's reason.
 */
export async function scanUdp(options: {
  readonly link: ScanLink;
  readonly asker: Asker;
  readonly hosts: readonly HostTarget[];
  readonly questions: readonly UdpQuestion[];
  readonly framesPerSecond: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onPort: (host: HostTarget, port: number) => void;
}): Promise<void> {
  const { hosts, questions, clock, link } = options;
  const settled = new Uint8Array(hosts.length * questions.length);
  const hostIndex = new Map(hosts.map(({ ip }, index) => [ip, index]));
  const questionIndex = new Map(questions.map(({ port }, index) => [port, index]));
  const drawn = questions.findIndex(({ answersFromAnyPort }) => answersFromAnyPort);
  const write = createUdpWriter(options.asker);
  const settle = (ip: number, question: number, isOpen: boolean) => {
    const host = hostIndex.get(ip);
    if (host === undefined || question < 0 || settled[host * questions.length + question] === 1) return;
    settled[host * questions.length + question] = 1;
    if (isOpen) options.onPort(hosts[host] as HostTarget, (questions[question] as UdpQuestion).port);
  };
  const onFrame = (bytes: Uint8Array, offset: number, length: number) => {
    readUdpAnswer({ bytes, offset, length }, link.port, (ip, port, isOpen) => {
      const question = questionIndex.get(port) ?? (isOpen && port >= FIRST_DRAWN_PORT ? drawn : -1);
      settle(ip, question, isOpen);
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
      const isSettled = settled[(place % hosts.length) * questions.length + Math.floor(place / hosts.length)] === 1;
      const next = isSettled ? undefined : question.payloads[payload];
      payload += 1;
      if (payload >= question.payloads.length || !next) {
        payload = 0;
        place += 1;
      }
      return next ? write(bytes, at, host, { port: question.port, payload: next }) : 0;
    }, rate);
    await pump.listen(ROUND_MS, () => settled.every((one) => one === 1));
  }
}

/** Reads a datagram to our port, or an ICMP error about one of ours. @param take Told the host, its port, and whether it answered. */
export function readUdpAnswer(
  { bytes, offset, length }: { readonly bytes: Uint8Array; readonly offset: number; readonly length: number },
  ownPort: number,
  take: (ip: number, port: number, isOpen: boolean) => void,
): void {
  if (length < 42 || word(bytes, offset + 12) !== IPV4) return;
  const header = offset + 14;
  const at = header + ((bytes[header] as number) & 15) * 4;
  if (at + 8 > offset + length) return;
  if (bytes[header + 9] === UDP) {
    if (word(bytes, at + 2) === ownPort) take(ipv4Number(bytes, header + 12), word(bytes, at), true);
    return;
  }
  const inner = at + 8;
  // Destination Unreachable; our own header is behind it. @see RFC 792
  if (bytes[header + 9] !== ICMP || bytes[at] !== 3 || inner + 20 > offset + length || bytes[inner + 9] !== UDP) return;
  const innerAt = inner + ((bytes[inner] as number) & 15) * 4;
  if (innerAt + 4 > offset + length || word(bytes, innerAt) !== ownPort) return;
  take(ipv4Number(bytes, inner + 16), word(bytes, innerAt + 2), false);
}

function word(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}
