import { decodeFrame, equalBytes, type Frame, type LinkType, MAX_ENCAPSULATIONS, parseIp, parseMac, unwrapFrame } from "@lanthorn/packets";
import type { FrameView } from "@lanthorn/packet-io";

/** Which frames of a conversation are meant. */
export interface Ends {
  /** An IP or a MAC address; null for everybody, whatever the rest says. */
  readonly host: string | null;
  /** Only what the host exchanges with this one; null for everybody. */
  readonly peer: string | null;
  /** What the host sent, what it was sent, or both. */
  readonly side: "both" | "source" | "destination";
}

/** Whether a frame is meant. */
export type FrameMatch = (frame: FrameView) => boolean;

/** Sender's and receiver's protocol address in ARP for IPv4. @see RFC 826 */
const ARP_SENDER = 14;
const ARP_TARGET = 24;
const ARP_BYTES = 28;

/**
 * Finds frames by the addresses of their ends: of the frame itself, behind VLAN tags and in ARP too, or of a packet inside of its tunnels. What is
 * inside of fragments is not found.
 * @returns Null where every frame is meant.
 */
export function createFrameMatch({ host, peer, side }: Ends, linkType = 1): FrameMatch | null {
  const isHost = endTest(host);
  const isPeer = endTest(peer) ?? (() => true);
  if (!isHost) return null;
  return (frame) => {
    const decoded = decodeFrame(frame.bytes.subarray(frame.offset, frame.offset + frame.length), { linkType: linkType as LinkType, wireLength: frame.wireLength });
    if (!decoded.ok) return false;
    return somePacket(decoded.value, (fields) => (side !== "destination" && isHost(fields, true) && isPeer(fields, false))
      || (side !== "source" && isHost(fields, false) && isPeer(fields, true)));
  };
}

/** Looks at a frame and at what is in its tunnels, the outermost first. */
function somePacket(frame: Frame, test: (fields: Frame) => boolean): boolean {
  let fields = frame;
  for (let depth = 0; depth <= MAX_ENCAPSULATIONS; depth += 1) {
    if (test(fields)) return true;
    const unwrapped = unwrapFrame(fields);
    if (unwrapped?.ok !== true) return false;
    fields = unwrapped.frame;
  }
  return false;
}

/** @returns Whether an address is a frame's sender, or its receiver; null for no address. */
function endTest(text: string | null): ((frame: Frame, isSender: boolean) => boolean) | null {
  if (text === null) return null;
  const ip = parseIp(text);
  const mac = parseMac(text);
  if (ip) return (frame, isSender) => isIp(frame, isSender, ip);
  return (frame, isSender) => {
    const own = isSender ? frame.sourceMac : frame.destinationMac;
    return mac !== null && own !== null && equalBytes(own, mac);
  };
}

function isIp(frame: Frame, isSender: boolean, ip: Uint8Array): boolean {
  if (frame.network === "arp") {
    const at = frame.networkOffset + (isSender ? ARP_SENDER : ARP_TARGET);
    return frame.networkEnd - frame.networkOffset >= ARP_BYTES && equalBytes(frame.bytes.subarray(at, at + 4), ip);
  }
  const own = isSender ? frame.sourceIp : frame.destinationIp;
  return own !== null && equalBytes(own, ip);
}
