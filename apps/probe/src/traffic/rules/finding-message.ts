/** Findings as they go from the traffic process to the daemon. */
import type { Finding } from "../../intrusions/finding.ts";
import type { FoundIntrusion } from "../messages.ts";

const MAX_PACKET_BYTES = 2048;
const MAX_MATCHED = 16;
const MAX_MATCHED_BYTES = 256;

/** Cut to what the message may have. */
export function toMessage({ times, at, source, destination, direction, target, wouldBlock, packet, matched, rule, fields, protocol, application }: Finding): FoundIntrusion {
  return {
    times, at, source, destination, direction, target, would_block: wouldBlock, protocol: protocol.slice(0, 16), application: application.slice(0, 32),
    rule: {
      gid: rule.gid, id: rule.id, revision: rule.revision, message: rule.message.slice(0, 512), category: rule.category.slice(0, 128),
      class_name: rule.className.slice(0, 128), severity: rule.severity, priority: Math.min(rule.priority, 255), techniques: rule.techniques.slice(0, 32),
    },
    matched: matched.slice(0, MAX_MATCHED).map(({ buffer, offset, length, bytes }) => ({ buffer: buffer.slice(0, 64), offset, length, bytes: base64(bytes, MAX_MATCHED_BYTES) })),
    fields: Object.fromEntries(Object.entries(fields).map(([name, text]) => [name.slice(0, 64), text.slice(0, 512)])),
    packet: packet && base64(packet, MAX_PACKET_BYTES),
  };
}

/** What the message says. */
export function toFinding({ would_block: wouldBlock, packet, matched, rule: { class_name: className, ...rule }, ...same }: FoundIntrusion): Finding {
  return {
    ...same, rule: { ...rule, className }, engine: "lanthorn", wouldBlock, packet: packet === null ? null : Buffer.from(packet, "base64"),
    matched: matched.map(({ bytes, ...place }) => ({ ...place, bytes: Buffer.from(bytes, "base64") })),
  };
}

function base64(bytes: Uint8Array, most: number): string {
  return Buffer.from(bytes.subarray(0, most)).toString("base64");
}
