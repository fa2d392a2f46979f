/** What detectors say, and what they are given. */
import type { DnsMessage } from "@lanthorn/packets";

/** What it is that was seen. */
export const DNS_SUSPICIONS = ["tunnel", "generated_names", "fast_flux", "rebinding", "forged_answer", "rogue_resolver", "encrypted_dns"] as const;
/** One of `DNS_SUSPICIONS`. */
export type DnsSuspicionKind = (typeof DNS_SUSPICIONS)[number];

/** A client took part in something, with what shows it: two signals at least. */
export interface DnsSuspicion {
  readonly kind: DnsSuspicionKind;
  /** What it is part of: a domain, a server, or "" where there is one only. */
  readonly campaign: string;
  /** Addresses as text; "" where nobody in particular is meant. */
  readonly client: string;
  readonly server: string;
  /** Microseconds since the epoch, of the message that showed it. */
  readonly at: number;
  readonly name: string;
  /** Of the question; 0 where there was none. */
  readonly type: number;
  /** Of the client's, at most eight. */
  readonly samples: readonly string[];
  /** Messages since the last time it was said, at least one. */
  readonly count: number;
  readonly severity: "low" | "medium" | "high";
  /** ATT&CK ids. */
  readonly techniques: readonly string[];
  /** In words and with their figures. */
  readonly signals: readonly string[];
}

/** A message between a client and a server. */
export interface DnsExchange {
  readonly message: DnsMessage;
  /** Of the whole message. */
  readonly bytes: number;
  readonly client: string;
  readonly server: string;
  readonly clientPort: number;
  /** Captured time, microseconds since the epoch. */
  readonly at: number;
}

/** An exchange, and what is known of the name that it is about. */
export interface NamedExchange extends DnsExchange {
  /** In lower case. */
  readonly name: string;
  readonly type: number;
  /** What somebody registered, or the last two labels where no public suffix ends it. */
  readonly domain: string;
  /** Null where no public suffix ends it. */
  readonly publicSuffix: string | null;
  readonly isPrivateSuffix: boolean;
}

/** Takes what a detector says. */
export type OnSuspicion = (suspicion: DnsSuspicion) => void;

/** Said again once in so much captured time, with the count. */
export const REPEAT_MICROSECONDS = 60e6;
/** Of one suspicion. */
export const MAX_SAMPLES = 8;

/** Microseconds. */
export const MINUTE = 60e6;
/** Microseconds. */
export const HOUR = 3600e6;
