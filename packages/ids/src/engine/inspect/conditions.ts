/** Facts that rules ask for beside bytes. */

import type { WatchedPacket } from "@lanthorn/traffic";
import type { Transaction } from "../../applications/application.ts";
import { compare, testNumber } from "../../matching/test-number.ts";
import type { ApplicationCondition, Condition, FactCondition, IpOptionCondition, StreamSizeCondition, VlanCondition, WordCondition } from "../../rules/condition.ts";
import { type FlowState, sideOf } from "../flow/flow-state.ts";
import { eventName } from "../rule-base/support.ts";
import { numberOf } from "./packet-numbers.ts";
import type { Subject } from "./subject.ts";

/** @returns Whether a condition of packets and flows holds. */
export function holdsPacketCondition(condition: Condition, { packet }: Subject, flow: FlowState): boolean {
  switch (condition.kind) {
    case "number": {
      const number = numberOf(condition.field, packet, flow);
      return number !== null && testNumber(condition.test, number);
    }
    case "tcp-flags":
      return packet !== null && packet.isTcp && testBits(condition.operator, packet.flags & 0xff & ~condition.ignored, condition.bits);
    case "fragment-bits":
      return packet !== null && packet.isIpv4 && testBits(condition.operator, (packet.bytes[packet.networkOffset + 6] ?? 0) >> 5, condition.bits);
    case "ip-option":
      return packet !== null && packet.isIpv4 && hasIpOption(packet, condition);
    case "vlan-id":
      return packet !== null && testVlan(packet, condition);
    case "stream-size":
      return testStreamSize(flow, condition);
    case "application":
      return testApplication(flow.application, condition);
    case "fact":
      return sameAddress(flow) !== condition.isNegated;
    case "event":
    case "word":
    case "tls-time":
      return false;
    default:
      return condition satisfies never;
  }
}

/** @returns Whether a condition of a transaction holds in the subject's direction. */
export function holdsTransactionCondition(condition: Condition, { transaction, direction, at }: Subject): boolean {
  if (transaction === null) return false;
  switch (condition.kind) {
    case "number":
      return transaction.numbersOf(condition.field, direction).some((number) => testNumber(condition.test, number));
    case "word":
      return transaction.wordsOf(condition.field, direction).some((word) => condition.words.some((wanted) => isWord(condition.field, wanted, word))) !== condition.isNegated;
    case "tls-time":
      return transaction.numbersOf(`tls.${condition.field}`, direction).some((number) => testNumber(condition.test, number));
    case "event":
      return transaction.events.has(eventName(condition.event));
    case "fact":
      return holdsFact(condition, transaction, at / 1e6) !== condition.isNegated;
    case "tcp-flags":
    case "fragment-bits":
    case "ip-option":
    case "vlan-id":
    case "stream-size":
    case "application":
      return false;
    default:
      return condition satisfies never;
  }

  function holdsFact({ fact }: FactCondition, { events, numbersOf }: Transaction, seconds: number): boolean {
    if (fact === "ftp-bounce") return events.has("ftp_bounce");
    const [from, to] = [numbersOf.call(transaction, "tls.not-before", direction), numbersOf.call(transaction, "tls.not-after", direction)];
    const isExpired = to.some((end) => end < seconds);
    return fact === "tls.cert-expired" ? isExpired : to.length > 0 && !isExpired && from.every((begin) => begin <= seconds);
  }
}

/** Of operations of DCE/RPC a range too. */
function isWord(field: WordCondition["field"], wanted: string, word: string): boolean {
  const range = field === "dcerpc.operation" ? wanted.split("-") : [];
  return wanted === word || (range.length === 2 && Number(word) >= Number(range[0]) && Number(word) <= Number(range[1]));
}

function testBits(operator: "exactly" | "all" | "any" | "not", value: number, bits: number): boolean {
  if (operator === "exactly") return value === bits;
  if (operator === "all") return (value & bits) === bits;
  return operator === "any" ? (value & bits) !== 0 : (value & bits) !== bits;
}

/** @see https://www.iana.org/assignments/ip-parameters/ */
const IP_OPTIONS: Readonly<Record<IpOptionCondition["option"], number>> = {
  rr: 7, lsrr: 131, eol: 0, nop: 1, ts: 68, sec: 130, esec: 133, ssrr: 137, satid: 136, any: -1,
};

function hasIpOption({ bytes, networkOffset }: WatchedPacket, { option }: IpOptionCondition): boolean {
  const end = networkOffset + ((bytes[networkOffset] ?? 0) & 0x0f) * 4;
  if (option === "any") return end > networkOffset + 20;
  for (let at = networkOffset + 20; at < end;) {
    const found = bytes[at] ?? 0;
    if (found === IP_OPTIONS[option]) return true;
    const size = found <= 1 ? 1 : bytes[at + 1] ?? 0;
    if (found === 0 || size < 1 || (found > 1 && size < 2)) return false;
    at += size;
  }
  return false;
}

function testVlan({ frame }: WatchedPacket, { layer, test }: VlanCondition): boolean {
  const ids = (frame?.vlanTags ?? []).map(({ vlanId }) => vlanId);
  if (layer === "any") return ids.some((id) => testNumber(test, id));
  if (layer === "all") return ids.length > 0 && ids.every((id) => testNumber(test, id));
  const id = ids.at(layer);
  return id !== undefined && testNumber(test, id);
}

function testStreamSize(flow: FlowState, { side, operator, value }: StreamSizeCondition): boolean {
  if (!flow.isTcp || flow.stage === "none") return false;
  const [client, server] = (["to-server", "to-client"] as const).map((direction) => {
    const { initial, next } = sideOf(flow, direction);
    return initial < 0 ? 0 : (next - initial) >>> 0;
  });
  const holds = (octets = 0) => compare(operator, octets, value);
  if (side === "client") return holds(client);
  if (side === "server") return holds(server);
  return side === "both" ? holds(client) && holds(server) : holds(client) || holds(server);
}

function testApplication(application: string, { application: wanted, isNegated }: ApplicationCondition): boolean {
  if (wanted === "unknown") return (application === "") !== isNegated;
  // As long as nothing is known, neither a protocol nor that it is another can be said.
  return application !== "" && (application === wanted || (wanted === "http" && application === "http2") || (wanted === "http1" && application === "http")) !== isNegated;
}

function sameAddress({ client, server }: FlowState): boolean {
  return client.ipv4 === server.ipv4 && client.ipv6 === server.ipv6;
}
