/** What an engine found in the traffic: a rule of intrusion detection matched. Both engines say it in the same words. */
import type { Severity } from "@lanthorn/contract/uplink";

/** Who found it: our own engine, or a Suricata beside the probe. */
export type Engine = "lanthorn" | "suricata";

/** One end of a flow. `ip` is "" where there is none, as in ARP. */
export interface End {
  readonly ip: string;
  /** 0 where the protocol has none. */
  readonly port: number;
}

/** The rule that matched. */
export interface FoundRule {
  readonly gid: number;
  readonly id: number;
  readonly revision: number;
  readonly message: string;
  /** The class, in words, and by the name that rules have for it; "" where nobody says. */
  readonly category: string;
  readonly className: string;
  readonly severity: Severity;
  /** 1 is the gravest. */
  readonly priority: number;
  /** ATT&CK ids. */
  readonly techniques: readonly string[];
}

/** Bytes of a buffer that the rule matched. */
export interface MatchedBytes {
  readonly buffer: string;
  readonly offset: number;
  readonly length: number;
  /** At most 256 of them. */
  readonly bytes: Uint8Array;
}

/** Matches of one rule between the same two ends, shortly after each other. */
export interface Finding {
  readonly engine: Engine;
  /** How many, at least one; the rest is of the last. */
  readonly times: number;
  /** Milliseconds since the epoch, of the packet. */
  readonly at: number;
  readonly rule: FoundRule;
  /** Of the packet that matched. */
  readonly source: End;
  readonly destination: End;
  /** In lower case: `tcp`, `udp`, `icmp`. */
  readonly protocol: string;
  /** `http`, `dns`, …; "" where none was recognized. */
  readonly application: string;
  /** Null where it has none, or where nobody knows. */
  readonly direction: "to-client" | "to-server" | null;
  /** The engine would have stopped it where it stands in the way; or did, as Suricata's `blocked` says. */
  readonly wouldBlock: boolean;
  /** Which end is attacked, by the rule's own word. */
  readonly target: "destination" | "source" | null;
  readonly matched: readonly MatchedBytes[];
  /** What the application said: `hostname`, `url`, … */
  readonly fields: Readonly<Record<string, string>>;
  /** The frame, from its Ethernet header on; null where there is none. */
  readonly packet: Uint8Array | null;
}
