import * as z from "zod";
import { Id, Instant } from "../values.ts";
import { AnomaliesPart, BEHAVIOUR_COMMANDS } from "./anomalies.ts";
import { BUNDLE_MAX_KINDS, BundleAnnouncement, BundleState } from "./bundles.ts";
import { CaptureSettings, PCAP_COMMANDS, TrafficHealth } from "./captures.ts";
import { DecoysPart, DecoysState } from "./decoys.ts";
import { ProbeCoverage } from "./coverage.ts";
import { IdsState } from "./ids/state.ts";
import { ResolverState } from "./resolver-state.ts";
import { GuardsPart, GuardsState } from "./guards.ts";
import { MAX_NETWORK_FACTS, NetworkFact, NetworkLook } from "./network-facts.ts";

/** The `v` of every message between probe and collector. A message with another `v` is refused. */
export const MESSAGE_VERSION = 1;
const Version = z.literal(MESSAGE_VERSION);
const Seq = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** Largest batch, in events and in bytes of its JSON before compression. */
export const BATCH_MAX_EVENTS = 500;
/** 4 MiB of JSON, before compression. */
export const BATCH_MAX_BYTES = 4 * 1024 * 1024;
/** Largest payload that a collector reads from any probe topic, as it arrives. */
export const PAYLOAD_MAX_BYTES = 1024 * 1024;

/**
 * Up, on `events`: some events in the order in which the probe wrote them down.
 *
 * `queue_id` names the probe's queue file; a queue made anew starts again at sequence 1 under a new name. `after` is the
 * sequence that the first event follows: the last one acknowledged. Sequences rise; between two of them may be a hole
 * where the disk budget took events, and a `queue_gap` event says so.
 */
export const Batch = z.object({
  v: Version,
  queue_id: Id,
  after: Seq,
  sent_at: Instant,
  events: z.array(z.object({ seq: Seq.min(1), type: z.string().max(64), occurred_at: z.string().max(40), data: z.unknown() })).min(1)
    .max(BATCH_MAX_EVENTS),
});
export type Batch = z.infer<typeof Batch>;

/**
 * Down, on `acks`: everything in `queue_id` up to `watermark` is committed, and the probe may forget it. With `refused`,
 * the last payload was not taken: `gap` when it follows a sequence that the collector never had (go back to `watermark`),
 * `not-a-batch` and `too-large` when it could not be read, `not-ready` when nobody was there to take it: what is under way
 * is to be sent again, a little later. The two times give the probe its clock offset.
 */
export const Acknowledgement = z.object({
  v: Version,
  queue_id: Id.nullable(),
  watermark: Seq,
  refused: z.object({ code: z.enum(["gap", "not-a-batch", "too-large", "not-ready"]), message: z.string().max(512) }).nullable(),
  /** The batch's own `sent_at`, so that the probe knows which one is answered. */
  batch_sent_at: Instant.nullable(),
  received_at: Instant,
  sent_at: Instant,
});
export type Acknowledgement = z.infer<typeof Acknowledgement>;

/** Up, on `status`, retained; `lost` is the last will. */
export const ProbeStatus = z.object({
  v: Version,
  state: z.enum(["online", "stopped", "lost"]),
  version: z.string().max(64),
  /** A new one at every start of the daemon. */
  run_id: Id,
  at: Instant,
});
export type ProbeStatus = z.infer<typeof ProbeStatus>;

/** Up, on `health`, every 30 s. Null where the machine does not tell. */
export const ProbeHealth = z.object({
  v: Version,
  at: Instant,
  version: z.string().max(64),
  uptime_seconds: z.number().min(0),
  cpu_percent: z.number().min(0),
  load_1m: z.number().min(0),
  memory: z.object({ rss_bytes: z.int().min(0), available_bytes: z.int().min(0), total_bytes: z.int().min(0) }),
  disk: z.object({ free_bytes: z.int().min(0), total_bytes: z.int().min(0) }),
  temperature_celsius: z.number().nullable(),
  capture: z.object({ frames: z.int().min(0), dropped: z.int().min(0) }),
  queue: z.object({ events: z.int().min(0), bytes: z.int().min(0), oldest_at: Instant.nullable(), dropped: z.int().min(0) }),
  clock_offset_ms: z.number().nullable(),
  interface: z.object({
    name: z.string().max(64),
    up: z.boolean(),
    /** The interface's own subnets, which may be scanned whatever the site's settings are. Older probes do not tell. */
    networks: z.array(z.string().max(64)).max(64).optional(),
  }),
  hosts: z.object({ online: z.int().min(0), known: z.int().min(0) }),
  /** Which configuration the probe goes by, and in words what is wrong with the last one that came. Older probes do not tell. */
  configuration: z.object({ revision: z.int().min(0).nullable(), error: z.string().max(512).nullable() }).optional(),
  /** Bundles that the probe has a use for, which version it uses, and why not the newest. Older probes do not report them. */
  bundles: z.array(BundleState).max(BUNDLE_MAX_KINDS).optional(),
  /** How its guards are. Older probes do not report it. */
  guards: GuardsState.optional(),
  /** What it can see of its network; left out before it has looked, and while its guards are off. Older probes do not report it. */
  coverage: ProbeCoverage.optional(),
  /** Servers and routers that were heard in the last day; left out while its guards are off. Older probes do not report them. */
  network_facts: z.array(NetworkFact).max(MAX_NETWORK_FACTS).optional(),
  /** How long it has listened for them, by kind; left out as they are. */
  network_looks: z.array(NetworkLook).max(32).optional(),
  /** The process that reads all traffic; left out where the probe's file names no interfaces for it. Older probes do not report it. */
  traffic: TrafficHealth.optional(),
  /** How its intrusion detection is; left out where the probe has none. Older probes do not report it. */
  ids: IdsState.optional(),
  /** The resolver beside it; left out where none is, or it does not run. Older probes do not report it. */
  resolver: ResolverState.optional(),
  /** The decoys beside it; left out where none were heard. Older probes do not report them. */
  decoys: DecoysState.optional(),
});
export type ProbeHealth = z.infer<typeof ProbeHealth>;

/** What the collector may ask of a probe's sweeps: the part of the module `sweep`. */
const SweepNarrowing = z.object({
  enabled: z.boolean(),
  interval_seconds: z.int().min(60).max(604_800),
  packets_per_second: z.int().min(1).max(10_000),
});
/** The part of the module `egress`. */
const ExcludedAddresses = z.array(z.string().max(64)).max(4096);

/**
 * Down, on `config`, retained: a part for each module of the probe that takes one. It can only narrow what the probe's own file allows: slower, less often, fewer addresses.
 */
export const ProbeConfiguration = z.object({
  v: Version,
  revision: z.int().min(0),
  site_name: z.string().max(255),
  sweep: SweepNarrowing,
  /** Addresses and prefixes that this probe never sends anything to. */
  excluded: ExcludedAddresses,
  /** DeliveredCredentials in JSON as a JWE, which only this probe's own key opens; left out where there are none. */
  credentials: z.string().max(786_432).optional(),
  /** The newest bundles of files; the probe fetches those that it has a use for. Older collectors and probes know none. */
  bundles: z.array(BundleAnnouncement).max(BUNDLE_MAX_KINDS).optional(),
  /** Settings of the guards; left out where the site has none. */
  guards: GuardsPart.optional(),
  /** Settings of captures; left out where the site has none. */
  capture: CaptureSettings.optional(),
  /** What people said is normal; left out where the site has none. */
  anomalies: AnomaliesPart.optional(),
  /** Who may touch the decoys; left out where the site has nobody. */
  decoys: DecoysPart.optional(),
  /** The collector's X25519 key in Base64, for which passwords that are tried at decoys are sealed by HPKE (RFC 9180). Older collectors have none. */
  password_key: z.base64().length(44).optional(),
});
export type ProbeConfiguration = z.infer<typeof ProbeConfiguration>;

/** What each command says. A profile or target that the probe cannot scan is refused in its reply, not here. */
export const COMMANDS = {
  /** A sweep of the networks that are swept by schedule. */
  sweep: z.object({}),
  /**
   * A scan: replied to when it begins, with `hosts_total`; then it tells of itself by events, `scan_started` to one of
   * `scan_complete`, `scan_failed`, `scan_cancelled`. Nothing is sent to `excluded`, nor to what the configuration excludes.
   */
  scan_start: z.object({
    scan_id: Id, target: z.string().max(64), profile: z.string().max(32), excluded: ExcludedAddresses,
  }),
  /** Ends a scan within a second. Replied to with `running`: whether there was such a scan. */
  scan_cancel: z.object({ scan_id: Id }),
  /** The guards' learning period begins anew. Replied to with `learning_until`: an instant by the probe's clock. */
  guards_learn: z.object({}),
  /** The probe connects to a decoy beside it. Replied to, when the hit was reported, with `incident_id`, `service` and `port`. */
  decoy_test: z.object({ decoy: z.string().min(1).max(64) }),
  ...PCAP_COMMANDS,
  ...BEHAVIOUR_COMMANDS,
} as const;
/** A key of `COMMANDS`. */
export type CommandType = keyof typeof COMMANDS;
/** The data of one command type, as its schema gives it back. */
export type CommandData<T extends CommandType> = z.infer<(typeof COMMANDS)[T]>;

/** Down, on `commands`: not begun after `expires_at`. `data` is as COMMANDS says for the type. */
export const Command = z.object({
  v: Version,
  id: Id,
  type: z.enum(Object.keys(COMMANDS) as [CommandType, ...CommandType[]]),
  issued_at: Instant,
  expires_at: Instant,
  data: z.record(z.string(), z.unknown()),
});
export type Command = z.infer<typeof Command>;

/**
 * Why a command was refused, for who sent it: there is `no-such-file`, and never will be; it cannot be done `not-now`, and may be tried
 * again; it is `not-configured` in the probe's own file, and its message says what to set there; or the probe reads `no-such-interface`. A
 * refusal for another reason, as a filter that does not compile, has none of these.
 */
export const COMMAND_REFUSALS = ["no-such-file", "not-now", "not-configured", "no-such-interface"] as const;
/** One of `COMMAND_REFUSALS`. */
export type CommandRefusal = (typeof COMMAND_REFUSALS)[number];

/** Up, on `replies`: one for each command. */
export const Reply = z.object({
  v: Version,
  command_id: Id.nullable(),
  ok: z.boolean(),
  error: z.object({
    code: z.enum(["expired", "not-a-command", "refused", "failed"]),
    message: z.string().max(512),
    /** What the refusal means; one that this version does not know is none. */
    reason: z.enum(COMMAND_REFUSALS).optional().catch(undefined),
  }).nullable(),
  data: z.record(z.string(), z.unknown()),
});
export type Reply = z.infer<typeof Reply>;
