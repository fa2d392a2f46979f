import { ProbeConfiguration } from "@lanthorn/contract/uplink";
import * as z from "zod";
import { AnomalySettings } from "./anomalies/settings.ts";
import { ContinuousSettings } from "./continuous/settings.ts";
import { DnsWatchSettings } from "./dns/settings.ts";

const MEBI = 1024 * 1024;

/** What is written about an alert: `[traffic.evidence]`. */
const EvidenceSettings = z.strictObject({
  /** Seconds before the frame that raised the alert. What the ring no longer has is said in the file. */
  before_seconds: z.int().min(1).max(300).default(30),
  /** Seconds after the alert, and after each time that it is seen again. */
  after_seconds: z.int().min(1).max(300).default(30),
  /** A file ends after this, though the alert goes on. */
  longest_seconds: z.int().min(2).max(3600).default(300),
  /** Of one file. */
  max_megabytes: z.int().min(1).max(4096).default(64),
  /** Of all evidence that lies on this machine. The oldest goes first. */
  budget_megabytes: z.int().min(8).max(1_048_576).default(512),
  /** What lies on this machine for so long is removed. */
  keep_days: z.int().min(1).max(3650).default(30),
}).prefault({});
/** `[traffic.evidence]`, with every default. */
export type EvidenceSettings = z.infer<typeof EvidenceSettings>;

/** Captures that somebody asks for: `[traffic.on_demand]`. The collector's request may ask for less, never for more. */
const OnDemandSettings = z.strictObject({
  longest_seconds: z.int().min(1).max(86_400).default(3600),
  /** Of one file. */
  max_megabytes: z.int().min(1).max(65_536).default(256),
  /** Of all files that were asked for and lie on this machine. */
  budget_megabytes: z.int().min(8).max(1_048_576).default(1024),
  /** What lies on this machine for so long is removed. */
  keep_days: z.int().min(1).max(3650).default(14),
}).prefault({});
/** `[traffic.on_demand]`, with every default. */
export type OnDemandSettings = z.infer<typeof OnDemandSettings>;

/** Reading all frames of one or more interfaces, in a process of its own: `[traffic]`. */
export const TrafficSettings = z.strictObject({
  /** Interfaces whose frames are all read: the probe's own, or those of mirror ports. Empty: no process is started. */
  interfaces: z.array(z.string().regex(/^[^/\s]{1,15}$/, "the name of an interface, as eth0 (see: ip link)")).max(8).default([])
    .refine((names) => new Set(names).size === names.length, "each interface once"),
  /** Resident memory of the process. Above it, it is restarted, and health says so. */
  memory_megabytes: z.int().min(96).max(65_536).default(384),
  /** Frames of the last seconds, kept in memory for alerts. */
  ring_megabytes: z.int().min(4).max(32_768).default(64),
  /** Frames that are older leave the ring though it has room. */
  ring_seconds: z.int().min(10).max(3600).default(120),
  /** Octets kept of each frame. */
  snap_length: z.int().min(64).max(262_144).default(262_144),
  evidence: EvidenceSettings,
  on_demand: OnDemandSettings,
  continuous: ContinuousSettings,
  dns: DnsWatchSettings,
  anomalies: AnomalySettings,
}).prefault({}).refine(
  ({ memory_megabytes, ring_megabytes }) => memory_megabytes >= ring_megabytes + 80,
  { error: "must be at least ring_megabytes + 80: the process needs some 80 MB beside the ring", path: ["memory_megabytes"] },
);
/** `[traffic]`, with every default. */
export type TrafficSettings = z.infer<typeof TrafficSettings>;

/** What the collector pushes to this module. */
export const capturePart = ProbeConfiguration.pick({ capture: true });

/** @returns Bytes. */
export function fromMegabytes(megabytes: number): number {
  return megabytes * MEBI;
}
