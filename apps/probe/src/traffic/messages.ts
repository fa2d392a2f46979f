/** What the daemon and its traffic process say to each other. Whatever is not here is refused. */
import {
  AnomaliesPart, AnomalyDetected, BEHAVIOUR_COMMANDS, CaptureSettings, COMMAND_REFUSALS, type CommandRefusal, Id, IdsState, PCAP_COMMANDS, PcapRecorded, type Reply, Severity, TrafficHealth,
} from "@lanthorn/contract/uplink";
import * as z from "zod";
import { TrafficSettings } from "./settings.ts";

/** The contract's limits of an event about an alert. */
const MAX_PACKETS = 16;
const MAX_PACKET_TEXT = 2800;
const MAX_ADDRESSES = 64;

const Milliseconds = z.number().min(0).max(8.64e15);
const Addresses = z.array(z.string().max(45)).max(MAX_ADDRESSES);

/** Who is meant: MAC addresses and IP addresses as text. What cannot be read as one is nobody's. */
const Party = z.object({ macs: Addresses, ips: Addresses });
/** Who is meant. */
export type Party = z.infer<typeof Party>;

/** An alert that frames are to be kept for. */
export const AlertNotice = z.object({
  alert_id: Id,
  /** What goes on; the same alert id may come again while it does. */
  kind: z.string().max(64),
  /** When the alert was raised, milliseconds since the epoch. */
  at: Milliseconds,
  device: Party,
  /** Whom the device spoke to, where that is known: only frames between the two are kept then. */
  peer: Party.nullable(),
  /** Frames that raised it, base64, each as much of it as is known. */
  packets: z.array(z.base64().max(MAX_PACKET_TEXT)).max(MAX_PACKETS),
});
export type AlertNotice = z.infer<typeof AlertNotice>;

const End = z.object({ ip: z.string().max(45), port: z.int().min(0).max(65_535) });
const RuleNumber = z.int().min(0).max(4_294_967_295);

/** What a rule found, with bytes in base64. */
export const FoundIntrusion = z.object({
  times: z.int().min(1).max(1_000_000_000), at: Milliseconds,
  rule: z.object({
    gid: RuleNumber, id: RuleNumber, revision: RuleNumber, message: z.string().max(512), category: z.string().max(128), class_name: z.string().max(128), severity: Severity,
    priority: z.int().min(0).max(255), techniques: z.array(z.string().max(16)).max(32),
  }),
  source: End, destination: End, protocol: z.string().max(16), application: z.string().max(32), direction: z.enum(["to-server", "to-client"]).nullable(),
  would_block: z.boolean(), target: z.enum(["source", "destination"]).nullable(),
  matched: z.array(z.object({ buffer: z.string().max(64), offset: z.int().min(0), length: z.int().min(0), bytes: z.base64().max(344) })).max(16),
  fields: z.record(z.string().max(64), z.string().max(512)),
  packet: z.base64().max(MAX_PACKET_TEXT).nullable(),
});
export type FoundIntrusion = z.infer<typeof FoundIntrusion>;

/** What was found in a client's DNS, with bytes in base64. A name of 255 octets has up to four letters for each. */
export const FoundDnsThreat = z.object({
  campaign: z.string().max(1024), category: z.string().max(64), severity: Severity, times: z.int().min(1).max(1_000_000_000), at: Milliseconds, client_ip: z.string().max(45),
  server_ip: z.string().max(45), name: z.string().max(1024), type: z.string().max(16), samples: z.array(z.string().max(1024)).max(8), reason: z.string().max(1024),
  /** The list that has the name, "" for a detector; all that have it; the record of an answer that it has; since when. */
  feed: z.string().max(128), lists: z.array(z.string().max(128)).max(16), blocked_record: z.string().max(1024).nullable(), listed_at: Milliseconds.nullable(),
  techniques: z.array(z.string().max(16)).max(32), packet: z.base64().max(MAX_PACKET_TEXT).nullable(),
});
export type FoundDnsThreat = z.infer<typeof FoundDnsThreat>;

/** A device behaved as it and its like do not: data of the event, with what only older senders leave out. */
export const FoundAnomaly = AnomalyDetected.required();
export type FoundAnomaly = z.infer<typeof FoundAnomaly>;

/** A time of which nothing was kept, milliseconds since the epoch. */
const Gap = z.object({ from: Milliseconds, to: Milliseconds, reason: z.string().max(256) });
/** A time of which nothing was kept. */
export type Gap = z.infer<typeof Gap>;

/** Commands of the collector that the process carries out. */
export type TrafficCommand = keyof typeof PCAP_COMMANDS | keyof typeof BEHAVIOUR_COMMANDS;
/** All of them. */
export const TRAFFIC_COMMANDS = [...Object.keys(PCAP_COMMANDS), ...Object.keys(BEHAVIOUR_COMMANDS)] as [TrafficCommand, ...TrafficCommand[]];

/** In words why a command is not carried out, with what that means to the collector where it is one of those meanings. */
export interface CommandRefused {
  readonly refused: string;
  readonly reason?: CommandRefusal | undefined;
}
/** What became of a command. */
export type CommandAnswer = { readonly data: Reply["data"] } | CommandRefused;

/** What the process counts; the daemon adds what it knows of the process itself. Sums since the process began. */
export const ProcessCounters = z.object({
  ...TrafficHealth.pick({ interfaces: true, shed: true, ring: true, captures: true, continuous: true, flows: true, dns: true, anomaly: true }).shape,
  /** Why an interface cannot be read or nothing can be written, in words; null for nothing. */
  problem: z.string().max(512).nullable(),
  /** Frames that this process had no time or room for, beside what the kernel dropped. */
  dropped_by_probe: z.int().min(0),
  /** Alerts that got no file, because there were too many or no room. */
  alerts_left_out: z.int().min(0),
  /** Which part of the kernel's ring and of the writers' buffers waits, the most of them: 0 to 1. */
  load: z.number().min(0).max(1),
  /** Sinks that are given no frames now. */
  shedding: z.int().min(0),
  /** How the engine of intrusion detection does. */
  rules: IdsState.omit({ suppressed: true, suricata: true }),
});
export type ProcessCounters = z.infer<typeof ProcessCounters>;

/** From the daemon. */
export const ToProcess = z.discriminatedUnion("kind", [
  /** The first message: nothing is read before. */
  z.object({
    kind: z.literal("begin"), settings: TrafficSettings, data_dir: z.string().max(4096), probe_id: Id, version: z.string().max(64),
    /** What files that wait to be sent may take. */
    spool_bytes: z.int().min(0),
    site: CaptureSettings, gaps: z.array(Gap).max(16),
    /** What rules know as the site's own networks; none for the engine's own. */
    home_networks: z.array(z.string().max(64)).max(512),
    /** What people said is normal for devices. */
    anomalies: AnomaliesPart.optional(),
  }),
  z.object({ kind: z.literal("anomalies"), anomalies: AnomaliesPart.optional() }),
  z.object({ kind: z.literal("site"), site: CaptureSettings }),
  z.object({ kind: z.literal("alert"), alert: AlertNotice }),
  z.object({ kind: z.literal("command"), id: z.int().min(1), command: z.enum(TRAFFIC_COMMANDS), data: z.record(z.string(), z.unknown()) }),
  /** Another version of the rules is installed, or none is any more. */
  z.object({ kind: z.literal("rules") }),
  /** Another version of the block lists is installed. */
  z.object({ kind: z.literal("names") }),
  /** Another version of the table of countries is installed. */
  z.object({ kind: z.literal("countries") }),
  /** The queue has what was `recorded` about this file. */
  z.object({ kind: z.literal("noted"), pcap_id: Id, state: z.string().max(16) }),
]);
export type ToProcess = z.infer<typeof ToProcess>;

/** From the process. */
export const FromProcess = z.discriminatedUnion("kind", [
  /** Every second: it lives, and this is how it does. */
  z.object({ kind: z.literal("state"), counters: ProcessCounters }),
  z.object({ kind: z.literal("reply"), id: z.int().min(1), data: z.record(z.string(), z.unknown()) }),
  z.object({ kind: z.literal("refusal"), id: z.int().min(1), reason: z.string().max(512), code: z.enum(COMMAND_REFUSALS).optional() }),
  /** A file has begun or ended: an event for the queue. Said again until it is `noted`. */
  z.object({ kind: z.literal("recorded"), at: Milliseconds, data: PcapRecorded }),
  /** A rule matched. */
  z.object({ kind: z.literal("found"), intrusion: FoundIntrusion }),
  /** Something was found in a client's DNS. */
  z.object({ kind: z.literal("dns_threat"), threat: FoundDnsThreat }),
  /** A device behaved as it and its like do not: data of the event. */
  z.object({ kind: z.literal("anomaly"), at: Milliseconds, anomaly: FoundAnomaly }),
]);
export type FromProcess = z.infer<typeof FromProcess>;
