import { formatIp } from "@lanthorn/packets";

/** One end of a flow. */
export interface FlowEnd {
  /** Four or sixteen bytes, the flow's own copy. */
  readonly ip: Uint8Array;
  /** Of TCP, UDP, SCTP and DCCP; as Zeek does, ICMP's type at the originator, its counterpart or code at the responder; else 0. */
  readonly port: number;
}

/** What tells one flow from another, both directions as one. */
export interface FlowKey {
  /** Unique while the process runs, and in order of opening. */
  readonly number: number;
  /** The same as in the flow's record. */
  readonly id: string;
  /** IP's number of the protocol: 6 TCP, 17 UDP, … */
  readonly protocol: number;
  /** The outermost VLAN tag of the packet's own frame; -1 without one. */
  readonly vlanId: number;
  /** The tag behind it; -1 without one. */
  readonly innerVlanId: number;
  /** Who began. */
  readonly originator: FlowEnd;
  /** Who was spoken to. */
  readonly responder: FlowEnd;
}

/** A flow as a person reads it, of addresses as bytes or as text: `192.0.2.1:4711 > [2001:db8::1]:443`. */
export function formatFlow(
  { originator, responder }: Readonly<Record<"originator" | "responder", { readonly ip: Uint8Array | string; readonly port: number }>>,
): string {
  return `${formatEnd(originator)} > ${formatEnd(responder)}`;
}

function formatEnd({ ip, port }: { readonly ip: Uint8Array | string; readonly port: number }): string {
  const text = typeof ip === "string" ? ip : formatIp(ip);
  return text.includes(":") ? `[${text}]:${port}` : `${text}:${port}`;
}
