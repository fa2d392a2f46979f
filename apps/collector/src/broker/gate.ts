/**
 * MQTT 3.1.1 control packets, as far as a gate in front of a broker must read them: fixed header (section 2.2) and the
 * topic of a PUBLISH (section 3.3.2). aedes keeps a packet whole in memory before anyone may look at it, and ends the
 * connection over a topic that it does not like; this lets neither happen.
 */

/** What a connection must be ended for: no reply of the protocol is possible any more. */
export type GateFault = "malformed" | "packet-too-large";

interface GateResult<Refusal> {
  /** What goes on to the broker, in order: views of what was pushed where it passes unchanged. */
  readonly forward: readonly Uint8Array[];
  /** One for each PUBLISH that was taken out. */
  readonly refusals: readonly Refusal[];
  readonly fault: GateFault | null;
}

/** Reads one connection's MQTT packets as they come, in chunks of any size. */
export interface Gate<Refusal> {
  /** Takes the next bytes of the connection. After a fault it takes nothing more. */
  push(chunk: Uint8Array): GateResult<Refusal>;
}

const PUBLISH = 3;
/** CONNECT with its will, SUBSCRIBE with a few topics: a probe's are below 1 KiB. */
const OTHER_PACKET_MAX_BYTES = 16 * 1024;
/** Far above any topic of ours; a longer one is refused without being read. */
const TOPIC_MAX_BYTES = 512;

/**
 * A gate that lets every packet through but those PUBLISHes that `judge` refuses. In such a one's place goes an empty PUBLISH
 * to `deadTopic` with the same quality of service and packet identifier, so that the broker answers it (PUBACK, PUBREC)
 * and the session goes on, while the payload's bytes are dropped as they arrive. Holds at most one topic's bytes itself.
 * @param options.judge Gets the topic, or null for one that is too long to be read, the payload's length in bytes, and the quality of
 *   service.
 */
export function createGate<Refusal>(options: {
  readonly judge: (topic: string | null, payloadBytes: number, qos: number) => Refusal | null;
  readonly deadTopic: string;
}): Gate<Refusal> {
  /** Bytes of the packet's beginning, until enough of it is there to judge it. */
  let head: Uint8Array = new Uint8Array(0);
  /** Bytes left of a packet that has been judged, and what becomes of them. */
  let rest = 0;
  let dropping = false;
  let ended = false;

  return {
    push(chunk) {
      const forward: Uint8Array[] = [];
      const refusals: Refusal[] = [];
      const fail = (fault: GateFault) => {
        ended = true;
        return { forward, refusals, fault };
      };
      if (ended) return { forward, refusals, fault: null };
      let at = 0;
      while (at < chunk.length) {
        if (rest > 0) {
          const take = Math.min(rest, chunk.length - at);
          if (!dropping) forward.push(chunk.subarray(at, at + take));
          rest -= take;
          at += take;
          continue;
        }
        const carried = head.length;
        const view = carried === 0 ? chunk.subarray(at) : join(head, chunk.subarray(at, at + HEAD_MAX_BYTES));
        const packet = readHead(view);
        if (packet === "more") {
          head = view.slice();
          at = chunk.length;
          continue;
        }
        if (typeof packet === "string") return fail(packet);
        head = new Uint8Array(0);
        const refusal = packet.type === PUBLISH ? options.judge(packet.topic, packet.payloadBytes, packet.qos) : null;
        if (refusal === null) forward.push(view.subarray(0, packet.headBytes));
        else {
          refusals.push(refusal);
          forward.push(deadPublish(view[0] as number, packet.identifier, options.deadTopic));
        }
        dropping = refusal !== null;
        rest = packet.totalBytes - packet.headBytes;
        at += packet.headBytes - carried;
      }
      return { forward, refusals, fault: null };
    },
  };
}

/** Fixed header, topic with its length, packet identifier: the most that is ever needed to judge a packet. */
const HEAD_MAX_BYTES = 5 + 2 + TOPIC_MAX_BYTES + 2;

interface PacketHead {
  readonly type: number;
  /** Of a PUBLISH; null when it is too long to be read. */
  readonly topic: string | null;
  readonly identifier: Uint8Array;
  readonly payloadBytes: number;
  readonly qos: number;
  /** Bytes that have been judged, and those of the whole packet. */
  readonly headBytes: number;
  readonly totalBytes: number;
}

function readHead(view: Uint8Array): PacketHead | "more" | GateFault {
  const length = readRemainingLength(view);
  if (length === "more" || length === "malformed") return length;
  const first = view[0] as number;
  const type = first >> 4;
  const { bodyAt } = length;
  const totalBytes = bodyAt + length.value;
  if (type !== PUBLISH) {
    if (totalBytes > OTHER_PACKET_MAX_BYTES) return "packet-too-large";
    return { type, topic: null, identifier: NOTHING, payloadBytes: 0, qos: 0, headBytes: bodyAt, totalBytes };
  }
  const qos = (first >> 1) & 3;
  if (qos === 3) return "malformed";
  if (length.value < 2) return "malformed";
  if (view.length < bodyAt + 2) return "more";
  const topicBytes = ((view[bodyAt] as number) << 8) | (view[bodyAt + 1] as number);
  const identifierAt = bodyAt + 2 + topicBytes;
  const headBytes = identifierAt + (qos === 0 ? 0 : 2);
  if (headBytes > totalBytes) return "malformed";
  const payloadBytes = totalBytes - headBytes;
  if (topicBytes > TOPIC_MAX_BYTES) {
    // Its identifier lies behind the topic, beyond what is held; only without one can it be taken out quietly.
    return qos === 0
      ? { type, topic: null, identifier: NOTHING, payloadBytes, qos, headBytes: bodyAt + 2, totalBytes }
      : "packet-too-large";
  }
  if (view.length < headBytes) return "more";
  return {
    type, payloadBytes, qos, headBytes, totalBytes,
    topic: Buffer.from(view.buffer, view.byteOffset + bodyAt + 2, topicBytes).toString("utf8"),
    identifier: view.slice(identifierAt, headBytes),
  };
}

const NOTHING = new Uint8Array(0);

/** One to four bytes of seven bits, least first. @see MQTT 3.1.1 section 2.2.3 */
function readRemainingLength(view: Uint8Array): { readonly value: number; readonly bodyAt: number } | "more" | "malformed" {
  let value = 0;
  for (let index = 0; index < 4; index += 1) {
    const byte = view[1 + index];
    if (byte === undefined) return "more";
    value += (byte & 0x7f) * 128 ** index;
    if (byte < 0x80) return { value, bodyAt: 2 + index };
  }
  return "malformed";
}

function deadPublish(firstByte: number, identifier: Uint8Array, topic: string): Uint8Array {
  const name = Buffer.from(topic, "utf8");
  // All flags but RETAIN: an empty retained message would erase one.
  return Buffer.concat([Buffer.from([firstByte & 0xfe, 2 + name.length + identifier.length, 0, name.length]), name, identifier]);
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
