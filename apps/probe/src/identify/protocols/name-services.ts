// Who is called what: DNS with `version.bind` (RFC 4892), mDNS asked by unicast (RFC 6762 section 5.5), NetBIOS node status (RFC
// 1002 4.2.18).
import { decodeDns, type DnsMessage, DNS_TYPE, encodeDns, Reader } from "@lanthorn/packets";
import { claims, learned, type Learned, printable, type TcpProtocol, toText, type UdpProtocol } from "../protocol.ts";

const CHAOS = 3;
const SERVICES = "_services._dns-sd._udp.local";

function encodeVersionQuestion(id: number): Uint8Array {
  return encodeDns({ id, questions: [{ name: "version.bind", type: DNS_TYPE.txt, class: CHAOS }] });
}

/** RFC 6762 section 17; and a version is one text. In longer ones each pointer to a long name would be written out anew. */
const MAX_ANSWER_BYTES = 9000;

function decodeAnswer(bytes: Uint8Array): DnsMessage | null {
  const decoded = bytes.length > MAX_ANSWER_BYTES ? null : decodeDns(bytes);
  return decoded?.ok && decoded.value.isResponse ? decoded.value : null;
}

function learnVersion(bytes: Uint8Array): Learned | null {
  const message = decodeAnswer(bytes);
  if (!message) return null;
  const text = message.answers.flatMap(({ data }) => (data.kind === "txt" ? data.strings.map((string) => toText(string)) : []))[0]
    ?? "";
  return learned("domain", { answers: text === "" ? [] : [{ kind: "dns-version", text }], banner: printable(text) });
}

/** Asks a DNS server for `version.bind`. @see RFC 4892 section 2 */
export const dnsUdp: UdpProtocol = {
  name: "domain", ports: [53], payloads: [(random) => encodeVersionQuestion(Math.floor(random() * 65_536))], learn: learnVersion,
};

/** The same over TCP or TLS, behind a length of two bytes. @see RFC 1035 section 4.2.2, RFC 7858 */
export const dns: TcpProtocol = {
  name: "domain",
  ports: [53, 853],
  alpn: ["dot"],
  hello() {
    const question = encodeVersionQuestion(0x4c4e);
    return Buffer.concat([Buffer.from([0, question.length]), question]);
  },
  ownPortsOnly: true,
  recognise(bytes) {
    if (bytes.length < 6) return bytes.length < 3 || bytes[2] === 0x4c ? "more" : "no";
    const length = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
    if (bytes[2] !== 0x4c || bytes[3] !== 0x4e) return "no";
    return bytes.length >= length + 2 ? "yes" : "more";
  },
  learn: (first) => Promise.resolve(learnVersion(first.subarray(2))),
};

/** Service types that a host offers, asked by unicast. @see RFC 6762 section 5.5, RFC 6763 section 9 */
export const mdns: UdpProtocol = {
  name: "mdns",
  ports: [5353],
  payloads: [(random) => encodeDns({ id: 1 + Math.floor(random() * 65_535), questions: [{ name: SERVICES, type: DNS_TYPE.ptr }] })],
  learn(answer) {
    const message = decodeAnswer(answer);
    if (!message) return null;
    const services = message.answers.flatMap(({ data }) => (data.kind === "name" ? [data.name.replace(/\.local$/, "")] : []));
    const list = [...new Set(services)].join("\n");
    return learned("mdns", { texts: [{ kind: "mdns-services", text: list }], banner: printable(list) });
  },
};

/** A node's names with their suffixes, as `NAS<20>`, and the MAC, which Samba leaves at zero. */
export interface NetbiosStatus {
  readonly names: readonly { readonly name: string; readonly suffix: number; readonly isGroup: boolean }[];
  readonly mac: Uint8Array;
}

/** @returns Null for what is no status. */
export function decodeNetbiosStatus(bytes: Uint8Array): NetbiosStatus | null {
  const reader = new Reader(bytes, 2);
  const flags = reader.u16();
  reader.take(8 + 34);
  if ((flags & 0x8000) === 0 || reader.u16() !== 0x21) return null;
  reader.take(8);
  const count = reader.u8();
  const names: { readonly name: string; readonly suffix: number; readonly isGroup: boolean }[] = [];
  for (let index = 0; index < count && !reader.failed; index += 1) {
    const name = toText(reader.take(15)).trimEnd();
    const suffix = reader.u8();
    const isGroup = (reader.u16() & 0x8000) !== 0;
    if (!reader.failed) names.push({ name, suffix, isGroup });
  }
  return names.length === 0 ? null : { names, mac: reader.take(6) };
}

/** Names and workgroup from the node status. @see RFC 1002 sections 4.2.17 and 4.2.18 */
export const netbios: UdpProtocol = {
  name: "netbios-ns",
  ports: [137],
  // The name `*`, in half bytes, and the question NBSTAT.
  payloads: [() => Buffer.concat([
    Buffer.from([0x4c, 0x4e, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 32]), Buffer.from(`CK${"A".repeat(30)}`), Buffer.from([0, 0, 0x21, 0, 1]),
  ])],
  learn(answer) {
    const status = decodeNetbiosStatus(answer);
    if (!status) return null;
    const own = status.names.find((name) => name.suffix === 0x20 && !name.isGroup)
      ?? status.names.find((name) => name.suffix === 0 && !name.isGroup);
    const group = status.names.find((name) => name.suffix === 0 && name.isGroup)?.name;
    return learned("netbios-ns", {
      claims: [
        ...claims("netbios", 0.8, { hostname: own?.name }),
        ...claims(
          "netbios", 0.7,
          status.mac.length === 6 && status.mac.every((byte) => byte === 0) ? { product: "Samba nmbd", vendor: "Samba" } : {},
        ),
      ],
      banner: printable([
        ...status.names.map(({ name, suffix }) => `${name}<${suffix.toString(16).padStart(2, "0")}>`),
        group === undefined ? "" : `workgroup ${group}`,
      ].join("\n")),
    });
  },
};
