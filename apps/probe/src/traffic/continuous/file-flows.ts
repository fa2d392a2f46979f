import { IP_PROTOCOL, isTunnelSign, parseIp } from "@lanthorn/packets";
import type { FileContents } from "../capture-files/file-contents.ts";
import { FAMILY_IPV4, FAMILY_IPV6, FAMILY_MAC, type FlowKey, KEY_WORDS } from "../capture-files/summary/flow-keys.ts";

/** Words of one end of a key. */
const END_WORDS = 4;
const PORTS_AT = 8;
const FAMILY_AT = 9;
const FAMILY_BITS = 0xf_0000;

/**
 * @returns The keys of a file's conversations, one behind the other, in this machine's order of octets; null where they are not all known: there
 * were too many, or a tunnel has others inside.
 */
export function encodeFlows({ flows }: Pick<FileContents, "flows">): Uint8Array | null {
  if (!flows.isWhole) return null;
  const keys: Uint32Array[] = [];
  let isTunnelThere = false;
  flows.forEach((key) => {
    isTunnelThere ||= isTunnel(key);
    // Those of nothing that could be read are nobody's.
    if (key[FAMILY_AT] !== 0) keys.push(key.slice());
  });
  if (isTunnelThere) return null;
  const words = new Uint32Array(keys.length * KEY_WORDS);
  for (const [index, key] of keys.entries()) words.set(key, index * KEY_WORDS);
  return new Uint8Array(words.buffer);
}

function isTunnel(key: FlowKey): boolean {
  const [ports, what] = [key[PORTS_AT] as number, key[FAMILY_AT] as number];
  const protocol = what & ~FAMILY_BITS;
  if ((what & FAMILY_BITS) === FAMILY_MAC) return isTunnelSign("ether-type", protocol);
  return isTunnelSign("ip-protocol", protocol) || (protocol === IP_PROTOCOL.udp && (isTunnelSign("udp-port", ports >>> 16) || isTunnelSign("udp-port", ports & 0xffff)));
}

/** An IP address as keys have it. */
interface KeyEnd {
  readonly family: number;
  readonly words: readonly number[];
}

/** @param flows As `encodeFlows` gave them. @param addresses IP addresses, two at most. @returns Whether one conversation has all of them. */
export function haveFlow(flows: Uint8Array, addresses: readonly KeyEnd[]): boolean {
  const words = new Uint32Array(flows.length >>> 2);
  new Uint8Array(words.buffer).set(flows.subarray(0, words.byteLength));
  for (let at = 0; at + KEY_WORDS <= words.length; at += KEY_WORDS) {
    if (addresses.every((address) => isEnd(words, at, address))) return true;
  }
  return false;
}

function isEnd(keys: Uint32Array, at: number, { family, words }: KeyEnd): boolean {
  if (((keys[at + FAMILY_AT] as number) & FAMILY_BITS) !== family) return false;
  return words.every((word, index) => keys[at + index] === word) || words.every((word, index) => keys[at + END_WORDS + index] === word);
}

/** @returns Null for text that is no IP address. */
export function keyEndOf(host: string): KeyEnd | null {
  const bytes = parseIp(host);
  if (!bytes) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const words = Array.from({ length: bytes.length / 4 }, (_, index) => view.getUint32(index * 4));
  return { family: bytes.length === 4 ? FAMILY_IPV4 : FAMILY_IPV6, words };
}
