/** The few MQTT 3.1.1 control packets that are written here and not by aedes. */

const PUBLISH_QOS_0 = 0x30;

/** A PUBACK. @see MQTT 3.1.1 section 3.4 */
export function encodePubAck(identifier: number): Buffer {
  const packet = Buffer.allocUnsafe(4);
  packet.writeUInt16BE(0x4002, 0);
  packet.writeUInt16BE(identifier, 2);
  return packet;
}

/**
 * A PUBLISH of quality of service 0.
 * @param topic At most 65,535 bytes of UTF-8; with the payload below 256 MiB.
 * @see MQTT 3.1.1 section 3.3
 */
export function encodePublish(topic: string, payload: string): Buffer {
  const topicBytes = Buffer.byteLength(topic);
  const bodyBytes = 2 + topicBytes + Buffer.byteLength(payload);
  let headBytes = 2;
  for (let left = bodyBytes; left > 0x7f; left >>= 7) headBytes += 1;
  const packet = Buffer.allocUnsafe(headBytes + bodyBytes);
  let at = packet.writeUInt8(PUBLISH_QOS_0, 0);
  let left = bodyBytes;
  for (; left > 0x7f; left >>= 7) at = packet.writeUInt8((left & 0x7f) | 0x80, at);
  at = packet.writeUInt8(left, at);
  at = packet.writeUInt16BE(topicBytes, at);
  at += packet.write(topic, at);
  packet.write(payload, at);
  return packet;
}

/**
 * An empty PUBLISH to another topic in the place of one that is refused, with its quality of service and identifier.
 * @param firstByte Of the refused one.
 * @param identifier Null where its quality of service is 0.
 */
export function encodeDeadPublish(firstByte: number, identifier: number | null, topic: string): Buffer {
  const name = Buffer.from(topic, "utf8");
  // All flags but RETAIN: an empty retained message would erase one.
  const head = Buffer.from([firstByte & 0xfe, 2 + name.length + (identifier === null ? 0 : 2), 0, name.length]);
  return Buffer.concat(identifier === null ? [head, name] : [head, name, Buffer.from([identifier >> 8, identifier & 0xff])]);
}
