import type { ProbeIdentity } from "../system/simulated-probe.ts";

/** The order that an attacker's process reads from its standard input, as JSON. */
export interface AttackOrder {
  readonly attack: string;
  readonly seconds: number;
  /** The collector's plain HTTP, and its two listeners with TLS. */
  readonly url: string;
  readonly httpsPort: number;
  readonly mqttPort: number;
  /** An admin of a tenant that nobody else has, an API key of hers, and a viewer there. */
  readonly admin: { readonly username: string; readonly password: string; readonly apiKey: string };
  readonly viewer: { readonly username: string; readonly password: string };
  /** A device of that tenant whose configuration has two long versions. */
  readonly deviceId: string;
  readonly siteId: string;
  /**
   * Hostile probes that are enrolled, each for one attack, so that what one has used up is there for the next: at the hostile tenant's
   * site, but `beside` the good probe at its site, and `elsewhere` at another site of its tenant.
   */
  readonly probes: Readonly<Record<"queues" | "qos2" | "bytes" | "neighbors" | "beside" | "elsewhere", ProbeIdentity>>;
}

/** What it prints as its last line. */
export interface AttackResult {
  /** Requests, connections or batches, whatever the attack is made of. */
  readonly sent: number;
  readonly bytes: number;
  /** How those were answered: a status, a code of refusal, `acknowledged`, `closed`, … */
  readonly answers: Readonly<Record<string, number>>;
}

/** The order that the process of well-behaved probes reads: their identities. */
export interface WitnessOrder {
  readonly url: string;
  readonly apiKey: string;
  readonly identity: ProbeIdentity;
}

/** What that process is asked, and answers once to each. */
export type WitnessQuestion = "begin" | "end" | "reassert" | "stop";

/** Since `begin`; times in milliseconds. */
export interface WitnessFigures {
  readonly connected: boolean;
  /** Worst and 99th percentile of GET /api/health, each on a new connection, until it is answered with 200. */
  readonly healthWorst: number;
  readonly healthP99: number;
  readonly listWorst: number;
  /** From the publishing of an event to its acknowledgement. */
  readonly ackWorst: number;
  readonly requests: number;
  /** Answers other than 200, connections that failed, streams that did not open. */
  readonly failed: number;
  /** How late this process's own timers were: what the machine alone takes. */
  readonly ownWorst: number;
  readonly said: number;
  readonly acknowledged: number;
  readonly queueId: string;
}
