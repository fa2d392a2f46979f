/**
 * A rule of Suricata's language as plain data: variables, defaults, escapes and old spellings are resolved, so that whoever runs a rule
 * never reads its text again.
 * @see https://docs.suricata.io/en/latest/rules/
 */

import type { AddressSet } from "./address-set.ts";
import type { BufferName } from "./buffer-names.ts";
import type { BufferMatch } from "./buffer-match.ts";
import type { Condition } from "./condition.ts";
import type { PortSet } from "./port-set.ts";
import type { StateCondition } from "./state-condition.ts";
import type { Transform } from "./transform.ts";

/** What a rule asks for. All but `pass` are alerts to a sensor that blocks nothing. `reject` alone means towards the sender. */
export type Action = "alert" | "pass" | "drop" | "reject" | "reject-source" | "reject-destination" | "reject-both";

/** What traffic a rule is about. */
export interface RuleProtocol {
  /** As the header names it, in lower case: `http`, `tcp-pkt`. */
  readonly name: string;
  /** IP protocols that the header allows; `null` for all. Of `icmp` both 1 and 58. */
  readonly numbers: readonly number[] | null;
  /** Version of IP that the header asks for, or `null`. */
  readonly ipVersion: 4 | 6 | null;
  /** Protocols of the application that the header or a keyword asks for, any of which will do; `null` where there is none. */
  readonly applications: readonly string[] | null;
  /** `tcp-pkt` looks at payloads of packets alone, `tcp-stream` at reassembled streams alone. */
  readonly scope: "any" | "packet" | "stream";
}

/** One end of a header. Equal sets are one object in all rules of a load, so that they can be grouped by identity. */
export interface RuleEnd {
  readonly addresses: AddressSet;
  readonly ports: PortSet;
}

/** What `flow` asks for. `null` where a rule does not care. */
export interface FlowCondition {
  readonly direction: "to-server" | "to-client" | null;
  readonly state: "established" | "not-established" | "stateless" | null;
  /** `only_stream` and `no_stream`: bytes of the reassembled stream, or of packets. */
  readonly stream: "only" | "none" | null;
  /** `only_frag` and `no_frag`: packets put together from fragments, or the others. */
  readonly fragments: "only" | "none" | null;
}

/**
 * What is asked of one buffer. Keywords without a sticky buffer are in `payload`, in one group; a buffer with the same transforms is one
 * group, except where Suricata inspects its instances one by one and a rule names it again.
 */
export interface BufferGroup {
  readonly buffer: BufferName;
  /** Applied in this order before anything is matched. */
  readonly transforms: readonly Transform[];
  /** In the order of the rule, which relative matches follow. */
  readonly matches: readonly BufferMatch[];
}

/** The content that the rule itself names for the prefilter. */
export interface FastPattern {
  /** Index in `Rule.buffers`. */
  readonly group: number;
  /** Index in that group's `matches`; always a content. */
  readonly match: number;
  /** The part of its bytes that the prefilter uses. */
  readonly offset: number;
  readonly length: number;
  /** `fast_pattern:only`: where it is in the buffer is not asked. */
  readonly isOnly: boolean;
}

/** Whose occurrences are counted together. */
export type Track = "source" | "destination" | "both" | "rule" | "flow";

/** `threshold`: which of many alerts are given. `backoff` gives alerts 1, m, m², … of a flow, with `count` 1 first and `multiplier` m. */
export interface Threshold {
  readonly kind: "limit" | "threshold" | "both" | "backoff";
  readonly track: Track;
  readonly count: number;
  /** 0 for `backoff`. */
  readonly seconds: number;
  /** 0 but for `backoff`. */
  readonly multiplier: number;
}

/** `detection_filter`: alerts begin after `count` matches within `seconds`. */
export interface DetectionFilter {
  readonly track: Track;
  readonly count: number;
  readonly seconds: number;
}

/** `tag`: which packets after the alert are kept too. */
export interface Tag {
  readonly scope: "session" | "host";
  readonly count: number;
  readonly unit: "packets" | "seconds" | "bytes";
  /** Which host, where `scope` is `host`. */
  readonly host: "source" | "destination" | null;
}

/** A kind of attack, from `classtype` and classification.config. */
export interface RuleClass {
  readonly name: string;
  /** As classification.config says it; the name itself where it has no such line. */
  readonly description: string;
  readonly priority: number;
}

/** `reference`, with a URL where reference.config knows the system or the id is one itself; else `null`. */
export interface RuleReference {
  readonly system: string;
  readonly id: string;
  readonly url: string | null;
}

/** How bad it is, by `signature_severity` of the metadata, else by the priority of the class. */
export type RuleSeverity = "critical" | "high" | "medium" | "low" | "info";

/** A rule that can be run. */
export interface Rule {
  readonly id: number;
  readonly gid: number;
  readonly revision: number;
  readonly message: string;
  /** Line of the file on which the rule begins, from 1. */
  readonly line: number;

  readonly action: Action;
  readonly protocol: RuleProtocol;
  readonly source: RuleEnd;
  readonly destination: RuleEnd;
  /** `<>`: either end may be the source. */
  readonly isBidirectional: boolean;

  readonly flow: FlowCondition;
  /** Facts of the packet, the flow or the transaction; all must hold. */
  readonly conditions: readonly Condition[];
  /** All must match; empty for rules about packets or flows alone. */
  readonly buffers: readonly BufferGroup[];
  /** Names of the numbers that `byte_extract` and `byte_math` read; places in this list are what matches refer to. */
  readonly variables: readonly string[];
  /** `null` where the rule leaves the choice to the engine. */
  readonly fastPattern: FastPattern | null;

  /** Flowbits, xbits, hostbits and flowint: those that ask, and those that change something once all else matched. */
  readonly states: readonly StateCondition[];
  readonly threshold: Threshold | null;
  readonly detectionFilter: DetectionFilter | null;
  readonly tag: Tag | null;
  readonly noAlert: boolean;

  readonly class: RuleClass | null;
  /** 1 is the gravest; of `priority`, else of the class, else 3. */
  readonly priority: number;
  readonly severity: RuleSeverity;
  readonly references: readonly RuleReference[];
  /** Pairs in the order of the rule; a key may come twice. */
  readonly metadata: readonly (readonly [key: string, value: string])[];
  /** ATT&CK ids of the metadata, `T1071.001`, without doubles. */
  readonly techniques: readonly string[];
  /** Which end of the packet is attacked. */
  readonly target: "source" | "destination" | null;
}
