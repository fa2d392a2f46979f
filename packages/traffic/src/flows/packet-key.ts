import { formatIp, type Frame } from "@lanthorn/packets";
import type { FlowEnd, FlowKey } from "./flow-key.ts";
import { ipv4Text } from "../tables/address-text.ts";
import { type KeyIndex, IPV4_BIT, KEY_AT } from "../tables/key-index.ts";
import { int32, type PacketFacts } from "./packet-facts.ts";

const VLAN_BITS = 13;
const VLAN_MASK = 0x1fff;

/**
 * Fills the key of a packet, the same for both directions: the lower address first, or the lower port where both are the same.
 * @returns Whether the sender is the lower end.
 */
export function fillPacketKey(key: Int32Array, facts: PacketFacts, frame: Frame): boolean {
  return fillKey(key, facts, frame.bytes, frame.sourceIpOffset, frame.vlanTags.length === 0 ? 0 : vlanWord(frame));
}

/** The same of a packet that lies in longer memory. @param vlans As `KEY_AT.vlans` has them; 0 for none. */
export function fillKey(key: Int32Array, facts: PacketFacts, bytes: Uint8Array, sourceIpOffset: number, vlans: number): boolean {
  const words = facts.isIpv4 ? 1 : 4;
  const destinationOffset = sourceIpOffset + words * 4;
  let order = 0;
  for (let word = 0; word < 4; word += 1) {
    const source = word < words ? int32(bytes, sourceIpOffset + word * 4) : 0;
    const destination = word < words ? int32(bytes, destinationOffset + word * 4) : 0;
    if (order === 0) order = source - destination;
    key[KEY_AT.low + word] = source;
    key[KEY_AT.high + word] = destination;
  }
  if (order === 0 && facts.icmpKey === -1) order = facts.sourcePort - facts.destinationPort;
  const isSourceLow = order <= 0;
  if (!isSourceLow) {
    for (let word = 0; word < words; word += 1) {
      const source = key[word] as number;
      key[word] = key[KEY_AT.high + word] as number;
      key[KEY_AT.high + word] = source;
    }
  }
  if (facts.icmpKey !== -1) key[KEY_AT.ports] = facts.icmpKey;
  else if (isSourceLow) key[KEY_AT.ports] = (facts.sourcePort << 16) | facts.destinationPort;
  else key[KEY_AT.ports] = (facts.destinationPort << 16) | facts.sourcePort;
  key[KEY_AT.protocol] = facts.protocol | (facts.isIpv4 ? IPV4_BIT : 0);
  key[KEY_AT.vlans] = vlans;
  key[KEY_AT.network] = facts.network;
  return isSourceLow;
}

/** VLAN ids count from 1 on here: 0 is no tag. */
function vlanWord({ vlanTags: [outer, inner] }: Frame): number {
  return ((outer?.vlanId ?? -1) + 1) | (((inner?.vlanId ?? -1) + 1) << VLAN_BITS);
}

/** An address as words; IPv4's is one, which needs no array. */
type Words = Int32Array | number;

/** One end of an entry; its address becomes bytes when somebody asks, as most keys are never read. */
class EntryEnd implements FlowEnd {
  readonly port: number;
  private readonly words: Words;
  private bytes: Uint8Array | null = null;

  constructor(words: Words, port: number) {
    this.words = words;
    this.port = port;
  }

  get ip(): Uint8Array {
    this.bytes ??= bytesOf(this.words);
    return this.bytes;
  }
}

/** The key of an entry of the index. */
class EntryKey implements FlowKey {
  readonly number: number;
  readonly protocol: number;
  readonly originator: FlowEnd;
  readonly responder: FlowEnd;
  private readonly prefix: string;
  private readonly vlans: number;

  constructor(index: KeyIndex, flow: EntryOfFlow, prefix: string) {
    this.number = flow.number;
    this.protocol = flow.protocol;
    this.prefix = prefix;
    this.vlans = index.word(flow.entry, KEY_AT.vlans);
    this.originator = new EntryEnd(wordsOf(index, flow.entry, flow.isLowOriginator), flow.originatorPort);
    this.responder = new EntryEnd(wordsOf(index, flow.entry, !flow.isLowOriginator), flow.responderPort);
  }

  get id(): string {
    return flowId(this.prefix, this.number);
  }

  get vlanId(): number {
    return (this.vlans & VLAN_MASK) - 1;
  }

  get innerVlanId(): number {
    return (this.vlans >>> VLAN_BITS) - 1;
  }
}

interface EntryOfFlow {
  readonly entry: number;
  readonly number: number;
  readonly protocol: number;
  readonly isLowOriginator: boolean;
  readonly originatorPort: number;
  readonly responderPort: number;
}

/** The key of a flow that is open. */
export function keyOfEntry(index: KeyIndex, flow: EntryOfFlow, prefix: string): FlowKey {
  return new EntryKey(index, flow, prefix);
}

/** @param prefix Of this run. */
export function flowId(prefix: string, number: number): string {
  return prefix + number.toString(36);
}

/** The outer and the inner VLAN of an entry; null without one. */
export function vlansOfEntry(index: KeyIndex, entry: number): readonly [number | null, number | null] {
  const word = index.word(entry, KEY_AT.vlans);
  if (word === 0) return NO_VLANS;
  return [(word & VLAN_MASK) - 1, word >>> VLAN_BITS === 0 ? null : (word >>> VLAN_BITS) - 1];
}
const NO_VLANS = [null, null] as const;

/** One address of an entry, as text. */
export function addressText(index: KeyIndex, entry: number, isLow: boolean): string {
  if ((index.word(entry, KEY_AT.protocol) & IPV4_BIT) === 0) return formatIp(bytesOf(wordsOf(index, entry, isLow)));
  return ipv4Text(index.word(entry, isLow ? KEY_AT.low : KEY_AT.high));
}

function wordsOf(index: KeyIndex, entry: number, isLow: boolean): Words {
  const at = isLow ? KEY_AT.low : KEY_AT.high;
  return (index.word(entry, KEY_AT.protocol) & IPV4_BIT) === 0 ? index.words(entry, at, 4) : index.word(entry, at);
}

function bytesOf(words: Words): Uint8Array {
  if (typeof words === "number") return Uint8Array.of(words >>> 24, words >>> 16, words >>> 8, words);
  const bytes = new Uint8Array(words.length * 4);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (words[at >>> 2] as number) >>> (24 - (at & 3) * 8);
  return bytes;
}
