/** A flow, or a part of one that goes on for long, between two hosts of which at least one is of the site. */
export interface ObservedFlow {
  /** When it is reported: its end, or a little later. Seconds of packet time, which flows follow in their order. */
  readonly at: number;
  readonly startedAt: number;
  /** A device's lasting name, as its MAC; the address of a host outside. */
  readonly originator: string;
  readonly responder: string;
  readonly isOriginatorInside: boolean;
  readonly isResponderInside: boolean;
  /** Protocol and the responder's port, as `tcp/443`. */
  readonly port: string;
  /** From the originator, and to it. */
  readonly bytesOut: number;
  readonly bytesIn: number;
  readonly packets: number;
  /** Nobody answered, or the answer was a refusal. */
  readonly hasFailed: boolean;
  /** Where the host outside is, as the caller knows it: a country, an operator; "" where it is not known. */
  readonly region: string;
  /** Whether this is its first part: only that counts as a flow. */
  readonly isFirstPart: boolean;
}

/** What a device says to all or to a group, which is heard also where only an access port is seen: DHCP, mDNS, SSDP. */
export interface ObservedBroadcast {
  readonly at: number;
  readonly device: string;
  /** Protocol and the receivers' port, as `udp/67`. */
  readonly port: string;
  readonly packets: number;
}

/** A device's question for a name, with its answer. */
export interface ObservedQuery {
  readonly at: number;
  readonly device: string;
  readonly name: string;
  /** The answer was that there is no such name. */
  readonly isMissing: boolean;
}

/** Telnet, SSH, Windows' remote procedures, remote desktops, VNC, WinRM. Files of Windows (445) are everyone's. */
const ADMIN_PORTS: ReadonlySet<string> = new Set(["tcp/22", "tcp/23", "tcp/135", "tcp/3389", "tcp/5900", "tcp/5985", "tcp/5986"]);

/** Whether it opens a session of administration with a host of the site, and that host answers. */
export function isAdminFlow(flow: ObservedFlow): boolean {
  return flow.isFirstPart && !flow.hasFailed && flow.isOriginatorInside && flow.isResponderInside && ADMIN_PORTS.has(flow.port);
}
