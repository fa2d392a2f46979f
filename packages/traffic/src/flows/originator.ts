import { type Frame, TCP_FLAG } from "@lanthorn/packets";
import type { PacketFacts } from "./packet-facts.ts";

/**
 * Who began, by the first packet of a flow that is seen, as Zeek decides it: the sender of a SYN; the receiver of a SYN and ACK; of ICMP who
 * asks. Of anything else the sender, unless it speaks from a port of servers to one that is none: then its packet is an answer.
 */

/** Below it only a system's own services listen. */
const FIRST_UNPRIVILEGED_PORT = 1024;
/** Servers above it that are seen often. */
const SERVER_PORTS: ReadonlySet<number> = new Set([
  1194, 1433, 1521, 1701, 1723, 1812, 1813, 1883, 2049, 3128, 3268, 3269, 3306, 3389, 3478, 5060, 5061, 5222, 5353, 5355, 5432, 5671, 5672, 5900, 5985,
  6379, 6443, 8000, 8080, 8443, 8883, 9100, 9200, 11211, 27017, 51820,
]);

/** Whether the first packet of a flow was sent by the one that did not begin. */
export function isFirstFromResponder(facts: PacketFacts, frame: Frame): boolean {
  if (facts.icmpKey !== -1 || facts.isAnswer) return facts.isAnswer;
  if (facts.isTcp && (facts.flags & TCP_FLAG.syn) !== 0) return (facts.flags & TCP_FLAG.ack) !== 0;
  if (frame.audience === "multicast" || frame.audience === "broadcast") return false;
  return isServerPort(facts.sourcePort) && !isServerPort(facts.destinationPort);
}

function isServerPort(port: number): boolean {
  return (port > 0 && port < FIRST_UNPRIVILEGED_PORT) || SERVER_PORTS.has(port);
}
