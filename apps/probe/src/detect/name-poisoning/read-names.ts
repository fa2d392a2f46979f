import { decodeNetbiosName, DNS_PORT, DNS_TYPE, type Decoded, type DnsMessage, formatIp, type Frame, NETBIOS_NAME_PORT } from "@lanthorn/packets";
import { LLMNR_PORT, type NameProtocol } from "../../egress/name-questions.ts";
import type { GuardFrame } from "../guard.ts";

/** Names that one frame asks for, or gives addresses for. */
export interface NamesHeard {
  readonly protocol: NameProtocol;
  readonly isAnswer: boolean;
  /** The first label of each, in lower case. */
  readonly names: readonly { readonly label: string; /** Empty in questions. */ readonly address: string }[];
}

/** A frame with more is not read on: who answers for many names is seen by his first ones. */
const MAX_NAMES = 16;

/** @returns Null for frames of other protocols, malformed ones, and those about other things: services, negative answers, registrations. */
export function readNames({ captured, frame }: GuardFrame): NamesHeard | null {
  if (isOf(frame, LLMNR_PORT)) return readDnsNames(captured.dns(), "LLMNR");
  if (isOf(frame, DNS_PORT.multicast)) return readDnsNames(captured.dns(), "mDNS");
  return isOf(frame, NETBIOS_NAME_PORT) ? readNetbios(frame) : null;
}

function isOf({ sourcePort, destinationPort }: Frame, port: number): boolean {
  return sourcePort === port || destinationPort === port;
}

function readDnsNames(message: Decoded<DnsMessage>, protocol: NameProtocol): NamesHeard | null {
  if (!message.ok || message.value.opcode !== 0) return null;
  const names = message.value.isResponse ? answersOf(message.value) : questionsOf(message.value);
  return names.length === 0 ? null : { protocol, isAnswer: message.value.isResponse, names };
}

function answersOf({ answers }: DnsMessage): NamesHeard["names"] {
  const names: NamesHeard["names"][number][] = [];
  for (const { name, ttlSeconds, data } of answers) {
    if (data.kind === "address" && ttlSeconds > 0 && names.length < MAX_NAMES) names.push({ label: labelOf(name), address: formatIp(data.address) });
  }
  return names;
}

function questionsOf({ questions }: DnsMessage): NamesHeard["names"] {
  const names: NamesHeard["names"][number][] = [];
  for (const { name, type } of questions) {
    const isForAddress = type === DNS_TYPE.a || type === DNS_TYPE.aaaa || type === DNS_TYPE.any;
    if (isForAddress && names.length < MAX_NAMES) names.push({ label: labelOf(name), address: "" });
  }
  return names;
}

/** Groups are many hosts' name, and `*` asks for the state of a host. */
function readNetbios({ payload }: Frame): NamesHeard | null {
  const message = decodeNetbiosName(payload);
  if (!message.ok || message.value.opcode !== 0 || message.value.responseCode !== 0) return null;
  const { isResponse, name: { name }, addresses } = message.value;
  const label = name.toLowerCase();
  if (label === "" || label.startsWith("*")) return null;
  const names = isResponse
    ? addresses.flatMap(({ isGroup, address }) => (isGroup ? [] : [{ label, address: formatIp(address) }])).slice(0, 1) : [{ label, address: "" }];
  return names.length === 0 ? null : { protocol: "NBT-NS", isAnswer: isResponse, names };
}

function labelOf(name: string): string {
  const end = name.indexOf(".");
  return (end < 0 ? name : name.slice(0, end)).toLowerCase();
}
