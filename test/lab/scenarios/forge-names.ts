import { openCapture } from "@lanthorn/packet-io";
import { decodeDns, decodeFrame, DNS_CLASS, DNS_TYPE, type DnsRecord, encodeDns } from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";
import { type ForgeEnd, type ForgeLink, ipv4, mac, udpFrame } from "./forge-frames.ts";

const PORT = { llmnr: 5355, mdns: 5353, netbios: 137 } as const;
/** @see RFC 4795 section 2.5 */
const LLMNR_GROUP: ForgeEnd = { mac: mac("01:00:5e:00:00:fc"), ip: ipv4("224.0.0.252"), port: PORT.llmnr };
/** @see RFC 6762 section 3 */
const MDNS_GROUP: ForgeEnd = { mac: mac("01:00:5e:00:00:fb"), ip: ipv4("224.0.0.251"), port: PORT.mdns };
const NETBIOS_GROUP: ForgeEnd = { mac: mac("ff:ff:ff:ff:ff:ff"), ip: ipv4("10.77.0.255"), port: PORT.netbios };

/** MAC IP: answers every name question of LLMNR, Multicast DNS and NetBIOS with its own address, until it is ended. */
export async function answerNames(link: ForgeLink, [ownMac, ownIp]: readonly string[]): Promise<void> {
  const own = { mac: mac(ownMac), ip: ipv4(ownIp) };
  openCapture({
    interface: link.interfaceName, filter: "udp and (port 5355 or port 5353 or port 137)", snapLength: 2000, promiscuous: false, clock: systemClock,
    onFrames(batch) {
      for (const { bytes } of batch) {
        const answer = answerTo(bytes, own);
        if (answer) void link.send([answer]).catch((error: unknown) => console.error(error));
      }
    },
    onLost(reason) {
      console.error(reason);
      process.exit(1);
    },
  });
  await new Promise(() => undefined);
}

function answerTo(bytes: Uint8Array, own: Pick<ForgeEnd, "mac" | "ip">): Uint8Array | null {
  const decoded = decodeFrame(bytes);
  if (!decoded.ok || decoded.value.network !== "ipv4") return null;
  const { sourceMac, sourceIp, sourcePort, destinationPort, payload } = decoded.value;
  if (!sourceMac || !sourceIp) return null;
  const asker: ForgeEnd = { mac: sourceMac, ip: sourceIp, port: sourcePort };
  if (destinationPort === PORT.netbios) return answerNetbios(payload, own, asker);
  const question = decodeDns(payload);
  if (!question.ok || question.value.isResponse) return null;
  const isMulticast = destinationPort === PORT.mdns;
  const answers = question.value.questions.filter(({ type }) => type === DNS_TYPE.a || type === DNS_TYPE.any)
    .map(({ name }): DnsRecord => addressRecord(name, own.ip, isMulticast));
  if (answers.length === 0) return null;
  const message = encodeDns({
    id: question.value.id, isResponse: true, isAuthoritative: isMulticast, questions: isMulticast ? [] : question.value.questions, answers,
  });
  return udpFrame({ ...own, port: destinationPort }, isMulticast && sourcePort === PORT.mdns ? MDNS_GROUP : asker, message);
}

function addressRecord(name: string, ip: Uint8Array, isCacheFlush: boolean): DnsRecord {
  return { name, type: DNS_TYPE.a, class: DNS_CLASS.internet, isCacheFlush, ttlSeconds: 30, data: { kind: "address", address: ip } };
}

/** A positive name query response. @see RFC 1002 section 4.2.13 */
function answerNetbios(query: Uint8Array, own: Pick<ForgeEnd, "mac" | "ip">, asker: ForgeEnd): Uint8Array | null {
  const isNameQuery = query.length >= 50 && ((query[2] ?? 0) & 0xf8) === 0 && query[46] === 0 && query[47] === 0x20;
  if (!isNameQuery) return null;
  const head = [query[0] ?? 0, query[1] ?? 0, 0x85, 0, 0, 0, 0, 1, 0, 0, 0, 0];
  const record = [...query.subarray(12, 46), 0, 0x20, 0, 1, 0, 0, 0, 165, 0, 6, 0, 0, ...own.ip];
  return udpFrame({ ...own, port: PORT.netbios }, asker, Uint8Array.from([...head, ...record]));
}

/** What people type, and nobody is called. */
const MISTYPED = ["fielsrv", "pritner", "intarnet", "bakcup", "sahre"] as const;

/** MAC IP MS TIMES: asks by all three for names that nobody has, as mistyped shares do. */
export async function askNames(link: ForgeLink, [ownMac, ownIp, everyMs, times]: readonly string[]): Promise<void> {
  const own = { mac: mac(ownMac), ip: ipv4(ownIp) };
  await link.repeat({ everyMs: Number(everyMs), times: Number(times) }, (index) => {
    const question = (name: string) => ({ name, type: DNS_TYPE.a, class: DNS_CLASS.internet, wantsUnicastResponse: false });
    const id = 0x7700 + index;
    const name = MISTYPED[index % MISTYPED.length] ?? "";
    return link.send([
      udpFrame({ ...own, port: 50_000 + index }, LLMNR_GROUP, encodeDns({ id, questions: [question(name)] })),
      udpFrame({ ...own, port: PORT.mdns }, MDNS_GROUP, encodeDns({ questions: [question(`${name}.local`)] }), { timeToLive: 255 }),
      udpFrame({ ...own, port: PORT.netbios }, NETBIOS_GROUP, netbiosQuery(id, name.toUpperCase())),
    ]);
  });
}

/** @see RFC 1002 section 4.2.12; RFC 1001 section 14.1 for the name */
function netbiosQuery(id: number, name: string): Uint8Array {
  const letters = [...Buffer.from(`${name.padEnd(15)}\0`)].flatMap((code) => [0x41 + (code >> 4), 0x41 + (code & 15)]);
  return Uint8Array.from([id >> 8, id & 0xff, 0x01, 0x10, 0, 1, 0, 0, 0, 0, 0, 0, 0x20, ...letters, 0, 0, 0x20, 0, 1]);
}

/** MAC IP: says by Multicast DNS, three times, that it is a sleep proxy. */
export async function announceSleepProxy(link: ForgeLink, [ownMac, ownIp]: readonly string[]): Promise<void> {
  const own: ForgeEnd = { mac: mac(ownMac), ip: ipv4(ownIp), port: PORT.mdns };
  const service = "_sleep-proxy._udp.local";
  const message = encodeDns({
    isResponse: true, isAuthoritative: true,
    answers: [{
      name: service, type: DNS_TYPE.ptr, class: DNS_CLASS.internet, isCacheFlush: false, ttlSeconds: 4500, data: { kind: "name", name: `50-34-10-70 Lab.${service}` },
    }],
  });
  await link.repeat({ everyMs: 500, times: 3 }, () => link.send([udpFrame(own, MDNS_GROUP, message, { timeToLive: 255 })]));
}
