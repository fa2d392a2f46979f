/** What a detector or the resolver found in a client's DNS. */
import type { Severity } from "@lanthorn/contract/uplink";

/** Of one client and one campaign. */
export interface DnsFinding {
  readonly mode: "passive" | "resolver";
  /** What it is part of; "" where its category has one only. */
  readonly campaign: string;
  /** Of the list, or the detector. */
  readonly category: string;
  readonly action: "blocked" | "reported";
  readonly severity: Severity;
  /** How often, at least one; the rest is of the last. */
  readonly times: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** "" where nobody in particular is meant. */
  readonly clientIp: string;
  readonly serverIp: string;
  readonly name: string;
  /** As text: `TXT`, `TYPE65399`; "" where nothing was asked. */
  readonly type: string;
  /** Some of the names. */
  readonly samples: readonly string[];
  /** For people. */
  readonly reason: string;
  /** The list that decided, "" for a detector; all that have the name. */
  readonly feed: string;
  readonly lists: readonly string[];
  readonly policy: string;
  /** The record of the answer that is listed; null where it is the name itself. */
  readonly blockedRecord: string | null;
  /** Since when it is listed, milliseconds since the epoch; null while unknown. */
  readonly listedAt: number | null;
  /** ATT&CK ids. */
  readonly techniques: readonly string[];
  /** The frame, from its Ethernet header on; null where there is none. */
  readonly packet: Uint8Array | null;
}
