import type { Schedule } from "./schedule.ts";

/** Who asks. */
export interface DnsClient {
  /** Of the inventory; null for a client that is not known. */
  readonly deviceId: string | null;
  readonly groupIds: readonly string[];
  readonly vlanId: number | null;
  readonly siteId: string;
  /** Four or sixteen bytes. */
  readonly address: Uint8Array;
  /** By which rules may name it: host names, the name in the inventory. */
  readonly names: readonly string[];
}

/** One question. */
export interface DnsQuery {
  /** As the decoder writes it, in any letter case. */
  readonly name: string;
  /** 1 is A. */
  readonly type: number;
  readonly client: DnsClient;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** Over UDP an answer may say that it is cut. */
  readonly isUdp: boolean;
}

/** For whom something holds. */
export type PolicyScope =
  | { readonly kind: "device"; readonly id: string }
  | { readonly kind: "group"; readonly id: string }
  | { readonly kind: "vlan"; readonly siteId: string; readonly vlanId: number }
  | { readonly kind: "site"; readonly id: string }
  | { readonly kind: "everyone" };

/** A list as a policy uses it. */
export interface ListChoice {
  readonly listId: string;
  /** `observe` says what the list would have done, and does nothing. */
  readonly mode: "enforce" | "observe";
  /** When it is used; null is always. */
  readonly schedule: Schedule | null;
}

/** How blocked names are answered, whatever type is asked for. A family without an address is answered without records. */
export type PolicyAnswer =
  | { readonly kind: "nxdomain" | "nodata" | "refused" | "zero" }
  | { readonly kind: "sinkhole"; readonly ipv4: string | null; readonly ipv6: string | null };

/** What is done for some clients. Of several policies the most specific scope counts alone: device, group, VLAN, site, everyone. */
export interface Policy {
  readonly id: string;
  readonly name: string;
  readonly scope: PolicyScope;
  /** `observe` turns every enforced list into an observed one. */
  readonly mode: "enforce" | "observe";
  readonly lists: readonly ListChoice[];
  readonly answer: PolicyAnswer;
  /** iCloud Private Relay takes names past the resolver. @see https://developer.apple.com/icloud/prepare-your-network-for-icloud-private-relay/ */
  readonly privateRelay: "allow" | "block";
  /** Firefox uses its own resolver unless `use-application-dns.net` is denied. @see https://support.mozilla.org/kb/canary-domain-use-application-dnsnet */
  readonly browserDns: "allow" | "block";
}

/** An operator's exception; it beats every list. */
export interface Allowance {
  readonly id: string;
  readonly name: string;
  /** Also for names below it. */
  readonly hasSubdomains: boolean;
  readonly scope: PolicyScope;
  /** Milliseconds since 1970; null is for good. */
  readonly untilMs: number | null;
}

/** Nothing is blocked for a while. */
export interface Pause {
  readonly scope: PolicyScope;
  readonly untilMs: number;
}

/** All that an operator has decided. */
export interface DnsRules {
  readonly policies: readonly Policy[];
  readonly allowances: readonly Allowance[];
  readonly pauses: readonly Pause[];
  /** Time zones of sites, as the IANA names them; UTC where there is none. */
  readonly timeZones: Readonly<Record<string, string>>;
  /**
   * Response policy zones decide only after the answer is there, where an earlier zone could decide by it: strict order of zones, for the price that the
   * servers of blocked names are asked. BIND's `qname-wait-recurse`.
   */
  readonly waitsForAnswer: boolean;
}
