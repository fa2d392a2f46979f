import { type BridgeId, decodeLlc, decodeStp, formatMac, type Frame, PVST_SNAP, STP_ACCESS_POINT } from "@lanthorn/packets";

/** What one BPDU claims. */
export interface BpduHeard {
  /** The tree that it is about: of one VLAN, or of the link as a whole. */
  readonly tree: string;
  /** Who is root, sixteen hexadecimal digits: the lower one wins. Empty in a notification, which names none. */
  readonly root: string;
  /** The root's priority without its VLAN. */
  readonly priority: number;
  /** Whether the sender says that it is root itself. */
  readonly isOwnRoot: boolean;
  readonly isTopologyChange: boolean;
}

/** @returns Null for every other frame, and for a malformed one. */
export function readBpdu(frame: Frame): BpduHeard | null {
  if (frame.network !== "llc") return null;
  const llc = decodeLlc(frame.networkBytes);
  if (!llc.ok) return null;
  const { destinationServiceAccessPoint, snap, payload } = llc.value;
  const isPvst = snap?.organization === PVST_SNAP.organization && snap.protocol === PVST_SNAP.protocol;
  if (!isPvst && destinationServiceAccessPoint !== STP_ACCESS_POINT) return null;
  const pdu = decodeStp(payload);
  if (!pdu.ok) return null;
  const { value } = pdu;
  const tree = `${isPvst ? "pvst" : "ieee"} ${value.vlanId ?? frame.vlanTags[0]?.vlanId ?? 0}`;
  if (value.kind !== "configuration") return { tree, root: "", priority: 0xf000, isOwnRoot: false, isTopologyChange: true };
  const [root, bridge] = [idOf(value.root), idOf(value.bridge)];
  return { tree, root, priority: value.root.priority, isOwnRoot: root === bridge, isTopologyChange: false };
}

function idOf({ priority, systemId, mac }: BridgeId): string {
  return (priority | systemId).toString(16).padStart(4, "0") + formatMac(mac).replaceAll(":", "");
}

/** A root as people read it: `32768.1 00:19:06:ea:b8:80`. */
export function describeRoot(root: string): string {
  const bits = Number.parseInt(root.slice(0, 4), 16);
  return `${bits & 0xf000}.${bits & 0x0fff} ${root.slice(4).replaceAll(/(..)(?=.)/g, "$1:")}`;
}

/** Whether two bridges have one priority and MACs that differ in a single byte: tools that take the root's place count its MAC down. */
export function isLike(one: string, other: string): boolean {
  if (one.slice(0, 4) !== other.slice(0, 4)) return false;
  let different = 0;
  for (let at = 4; at < 16; at += 2) if (one.slice(at, at + 2) !== other.slice(at, at + 2)) different += 1;
  return different === 1;
}
