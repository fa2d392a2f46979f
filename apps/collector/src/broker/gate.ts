/**
 * MQTT 3.1.1 control packets, as far as a gate in front of a broker must read them: fixed header (section 2.2) and PUBLISH (section
 * 3.3). aedes keeps a packet whole in memory before anyone may look at it, and ends the connection over a topic that it does not like;
 * this lets neither happen. What a probe may publish is taken here, so that it passes no broker that would look for subscribers.
 */

import { encodeDeadPublish } from "./mqtt-packets.ts";

/** What a connection must be ended for: no reply of the protocol is possible any more. */
export type GateFault = "malformed" | "packet-too-large";

/** What becomes of a PUBLISH: it is for `taken`, or it is refused. */
export type Verdict<Target, Refusal> = { readonly taken: Target } | { readonly refused: Refusal };

/** A PUBLISH that was taken. */
export interface TakenPublish {
  /** Perhaps a view of what was pushed. */
  readonly payload: Buffer;
  /** Null where the quality of service is 0. */
  readonly identifier: number | null;
}

/** Gets what a gate makes of the packets, in their order. */
export interface GateOutput<Target, Refusal> {
  /** Bytes that go on to the broker: a view of what was pushed where they pass unchanged. */
  forward(bytes: Buffer): void;
  take(target: Target, publish: TakenPublish): void;
  refuse(refusal: Refusal): void;
}

/** Reads one connection's MQTT packets as they come, in chunks of any size. */
export interface Gate {
  /** Takes the next bytes of the connection. After a fault it takes nothing more. */
  push(chunk: Buffer): GateFault | null;
}

const PUBLISH = 3;
/** CONNECT with its will, SUBSCRIBE with a few topics: a probe's are below 1 KiB. */
const OTHER_PACKET_MAX_BYTES = 16 * 1024;
/** Far above any topic of ours; a longer one is refused without being read. */
const TOPIC_MAX_BYTES = 512;
/** Fixed header, topic with its length, packet identifier: the most that is ever needed to judge a packet. */
const HEAD_MAX_BYTES = 5 + 2 + TOPIC_MAX_BYTES + 2;
const NOTHING = Buffer.alloc(0);

/** A PUBLISH that is being taken, as far as its payload is here. */
interface Taking<Target> {
  readonly target: Target;
  readonly identifier: number | null;
  readonly totalBytes: number;
  bytes: Buffer;
  filled: number;
}

/**
 * A gate that lets every packet through but PUBLISHes: one that `judge` takes goes to the output, whole. In a refused one's place goes an
 * empty PUBLISH to `deadTopic` with the same quality of service and packet identifier, so that the broker answers it (PUBACK, PUBREC)
 * and the session goes on, while the payload's bytes are dropped as they arrive. Holds at most one topic and one taken payload.
 * @param options.judge Gets the topic, one character for each of its bytes, or null for one that is too long to be read, the payload's
 *   length in bytes, and the quality of service. What it takes has a length that may be held, and a quality of 0 or 1.
 */
export function createGate<Target, Refusal>(options: {
  readonly judge: (topic: string | null, payloadBytes: number, qos: number) => Verdict<Target, Refusal>;
  readonly deadTopic: string;
  readonly output: GateOutput<Target, Refusal>;
}): Gate {
  const { judge, deadTopic, output } = options;
  /** Bytes of the packet's beginning, until enough of it is there to judge it. */
  let head = NOTHING;
  /** Bytes left of a packet that has been judged, and what becomes of them. */
  let rest = 0;
  let fate: "forward" | "drop" | Taking<Target> = "forward";
  let ended = false;

  const judged = (packet: PacketHead, view: Buffer) => {
    rest = packet.totalBytes - packet.headBytes;
    fate = "forward";
    if (packet.type !== PUBLISH) return output.forward(view.subarray(0, packet.headBytes));
    const { identifier, payloadBytes } = packet;
    const verdict = judge(packet.topic, payloadBytes, packet.qos);
    if ("refused" in verdict) {
      fate = "drop";
      output.refuse(verdict.refused);
      return output.forward(encodeDeadPublish(view[0] as number, identifier, deadTopic));
    }
    if (payloadBytes === 0) return output.take(verdict.taken, { payload: NOTHING, identifier });
    fate = { target: verdict.taken, identifier, totalBytes: payloadBytes, bytes: NOTHING, filled: 0 };
    return undefined;
  };
  const pass = (bytes: Buffer) => {
    rest -= bytes.length;
    if (fate === "drop") return;
    if (fate === "forward") return output.forward(bytes);
    const { target, identifier } = fate;
    const payload = gather(fate, bytes);
    if (payload === null) return;
    // Else the payload would stay in memory until the next packet comes.
    fate = "forward";
    output.take(target, { payload, identifier });
  };
  return {
    push(chunk) {
      let at = 0;
      while (!ended && at < chunk.length) {
        if (rest > 0) {
          const end = Math.min(at + rest, chunk.length);
          pass(chunk.subarray(at, end));
          at = end;
          continue;
        }
        const carried = head.length;
        const view = carried === 0 ? chunk.subarray(at) : Buffer.concat([head, chunk.subarray(at, at + HEAD_MAX_BYTES)]);
        const packet = readHead(view);
        if (packet === "more") {
          head = Buffer.from(view);
          break;
        }
        if (typeof packet === "string") {
          ended = true;
          return packet;
        }
        head = NOTHING;
        at += packet.headBytes - carried;
        judged(packet, view);
      }
      return null;
    },
  };
}

/** @returns The payload, once it is whole. One that comes in pieces is copied together, in a buffer that grows with what has come. */
function gather(taking: Taking<unknown>, piece: Buffer): Buffer | null {
  const filled = taking.filled + piece.length;
  if (taking.filled === 0 && filled === taking.totalBytes) return piece;
  if (filled > taking.bytes.length) {
    const larger = Buffer.allocUnsafe(Math.min(taking.totalBytes, Math.max(filled, 2 * taking.bytes.length)));
    taking.bytes.copy(larger, 0, 0, taking.filled);
    taking.bytes = larger;
  }
  piece.copy(taking.bytes, taking.filled);
  taking.filled = filled;
  return filled === taking.totalBytes ? taking.bytes : null;
}

interface PacketHead {
  readonly type: number;
  /** Of a PUBLISH; null when it is too long to be read. */
  readonly topic: string | null;
  readonly identifier: number | null;
  readonly payloadBytes: number;
  readonly qos: number;
  /** Bytes that have been judged, and those of the whole packet. */
  readonly headBytes: number;
  readonly totalBytes: number;
}

function readHead(view: Buffer): PacketHead | "more" | GateFault {
  const length = readRemainingLength(view);
  if (length === "more" || length === "malformed") return length;
  const first = view[0] as number;
  const type = first >> 4;
  const { bodyAt } = length;
  const totalBytes = bodyAt + length.value;
  if (type !== PUBLISH) {
    if (totalBytes > OTHER_PACKET_MAX_BYTES) return "packet-too-large";
    return { type, topic: null, identifier: null, payloadBytes: 0, qos: 0, headBytes: bodyAt, totalBytes };
  }
  const qos = (first >> 1) & 3;
  if (qos === 3) return "malformed";
  if (length.value < 2) return "malformed";
  if (view.length < bodyAt + 2) return "more";
  const topicBytes = view.readUInt16BE(bodyAt);
  const identifierAt = bodyAt + 2 + topicBytes;
  const headBytes = identifierAt + (qos === 0 ? 0 : 2);
  if (headBytes > totalBytes) return "malformed";
  const payloadBytes = totalBytes - headBytes;
  if (topicBytes > TOPIC_MAX_BYTES) {
    // Its identifier lies behind the topic, beyond what is held; only without one can it be taken out quietly.
    return qos === 0
      ? { type, topic: null, identifier: null, payloadBytes, qos, headBytes: bodyAt + 2, totalBytes }
      : "packet-too-large";
  }
  if (view.length < headBytes) return "more";
  // Latin-1: two topics are the same text only where they are the same bytes.
  const topic = view.toString("latin1", bodyAt + 2, identifierAt);
  return { type, payloadBytes, qos, headBytes, totalBytes, topic, identifier: qos === 0 ? null : view.readUInt16BE(identifierAt) };
}

/** One to four bytes of seven bits, least first. @see MQTT 3.1.1 section 2.2.3 */
function readRemainingLength(view: Buffer): { readonly value: number; readonly bodyAt: number } | "more" | "malformed" {
  let value = 0;
  for (let index = 0; index < 4; index += 1) {
    const byte = view[1 + index];
    if (byte === undefined) return "more";
    value += (byte & 0x7f) * 128 ** index;
    if (byte < 0x80) return { value, bodyAt: 2 + index };
  }
  return "malformed";
}
