/** The three ways in which hosts ask each other for a name that DNS does not know. */
import { decodeDns, decodeNetbiosName, DNS_PORT, DNS_TYPE, encodeDns, encodeNetbiosQuery, formatIp, NETBIOS_NAME_PORT } from "@lanthorn/packets";
import { LLMNR_PORT } from "../../egress/name-questions.ts";

/** LLMNR (RFC 4795), the name service of NetBIOS (RFC 1002), and Multicast DNS (RFC 6762). They stand where services do. */
export const NAME_BAIT_PROTOCOLS = ["llmnr", "nbns", "mdns"] as const;
/** One of `NAME_BAIT_PROTOCOLS`. */
export type NameBaitProtocol = (typeof NAME_BAIT_PROTOCOLS)[number];

/** What is asked for. */
export interface BaitQuestion {
  /** 16 bits. */
  readonly id: number;
  /** In lower case, without a domain. */
  readonly label: string;
}

/** How one of them is spoken. */
export interface NameProtocol {
  readonly title: string;
  readonly port: number;
  /** Null where a name is asked for by broadcast, over IPv4 alone. */
  readonly groups: { readonly ipv4: string; readonly ipv6: string } | null;
  /** The TTL of IPv4, and the hop limit of IPv6. */
  readonly timeToLive: number;
  encode(question: BaitQuestion): readonly Uint8Array[];
  /** @returns The address that an answer to this question gives for the name, as text; null for all else, negative answers too. */
  readAnswer(datagram: Uint8Array, question: BaitQuestion): string | null;
}

/** A file server: what a mistyped share is asked for. @see RFC 1001 section 14 */
const FILE_SERVER = 0x20;

/** Each of them. Answers are read by the readers that discovery has for them. */
export const NAME_PROTOCOLS: Readonly<Record<NameBaitProtocol, NameProtocol>> = {
  llmnr: { title: "LLMNR", port: LLMNR_PORT, groups: { ipv4: "224.0.0.252", ipv6: "ff02::1:3" }, timeToLive: 1, encode: ({ id, label }) => encodeBoth(id, label), readAnswer: (datagram, { id, label }) => readDnsAnswer(datagram, label, [id]) },
  nbns: {
    title: "NBNS", port: NETBIOS_NAME_PORT, groups: null, timeToLive: 64, encode: ({ id, label }) => [encodeNetbiosQuery({ id, name: { name: label.toUpperCase(), suffix: FILE_SERVER } })],
    readAnswer: readNetbiosAnswer,
  },
  // Who is asked from another port than 5353 answers to it, with the question's id; some answer to all, without one. RFC 6762 sections 6.7 and 18.1.
  mdns: {
    title: "mDNS", port: DNS_PORT.multicast, groups: { ipv4: "224.0.0.251", ipv6: "ff02::fb" }, timeToLive: 255, encode: ({ id, label }) => encodeBoth(id, `${label}.local`),
    readAnswer: (datagram, { id, label }) => readDnsAnswer(datagram, `${label}.local`, [id, 0]),
  },
};

/** For an address of either version, as resolvers ask. */
function encodeBoth(id: number, name: string): readonly Uint8Array[] {
  return [DNS_TYPE.a, DNS_TYPE.aaaa].map((type) => encodeDns({ id, questions: [{ name, type }] }));
}

function readDnsAnswer(datagram: Uint8Array, name: string, ids: readonly number[]): string | null {
  const message = decodeDns(datagram);
  if (!message.ok) return null;
  const { id, isResponse, opcode, responseCode, answers } = message.value;
  if (!isResponse || opcode !== 0 || responseCode !== 0 || !ids.includes(id)) return null;
  for (const { name: owner, data } of answers) if (data.kind === "address" && owner.toLowerCase() === name) return formatIp(data.address);
  return null;
}

function readNetbiosAnswer(datagram: Uint8Array, { id, label }: BaitQuestion): string | null {
  const message = decodeNetbiosName(datagram);
  if (!message.ok) return null;
  const { isResponse, opcode, responseCode, name, addresses, id: answered } = message.value;
  const [first] = addresses;
  return isResponse && opcode === 0 && responseCode === 0 && answered === id && name.name.toLowerCase() === label && first ? formatIp(first.address) : null;
}
