import * as z from "zod";
import { CONFLICT_KINDS, Id, Instant, LICENSE_LIMITS, LICENSE_STATUSES, Severity } from "../values.ts";

/** What a probe measures of its own machine, each against a threshold. */
export const HEALTH_METRICS = [
  "cpu", "memory", "disk", "load", "temperature", "capture_drops", "queue_depth", "clock_offset", "interface", "certificate",
  "traffic_process", "traffic_drops", "traffic_shed", "resolver_servers",
] as const;

/** A resource of the probe went over its threshold (`raised`) or came back below it with room (`cleared`). */
export const ProbeHealthAlert = z.object({
  metric: z.enum(HEALTH_METRICS),
  state: z.enum(["raised", "cleared"]),
  severity: Severity,
  value: z.number(),
  threshold: z.number(),
  unit: z.string().max(16),
  message: z.string().max(512),
});

/** Something failed that people should know of; `code` is stable, `message` is for reading. */
export const ErrorEvent = z.object({
  code: z.string().min(1).max(64),
  message: z.string().max(1024),
});

/**
 * Events that the probe could not keep: the sequence numbers between `from_seq` and `to_seq` hold `dropped` events that
 * no longer exist, because the disk budget was spent, the queue was unreadable, the collector went back in time, or an
 * event was larger than a collector takes.
 */
export const QueueGap = ErrorEvent.extend({
  code: z.literal("queue-gap"),
  reason: z.enum(["disk-budget", "queue-corrupt", "collector-behind", "too-large"]),
  from_seq: z.int().min(0),
  to_seq: z.int().min(0),
  dropped: z.int().min(0),
  since: Instant.nullable(),
});

/** The collector has not heard from a probe; its devices are `unknown` from here on. */
export const ProbeSilent = ErrorEvent.extend({
  code: z.literal("probe-silent"),
  name: z.string().max(255),
  last_heard_at: Instant.nullable(),
  clean_stop: z.boolean(),
});

/** A silent probe is heard again. */
export const ProbeReturned = z.object({ name: z.string().max(255), silent_since: Instant });

/**
 * More devices than anybody reads of were found at a site: as long as that goes on, new ones are stored and not announced one by one. Told
 * when it begins, and again every ten minutes while it goes on.
 */
export const DiscoveryStorm = ErrorEvent.extend({
  code: z.literal("discovery-storm"),
  state: z.enum(["begins", "continues"]),
  /** Found within `window_seconds`. */
  devices: z.int().min(0),
  window_seconds: z.int().min(1),
});

/** An alert was raised. `device_ip` is empty where it is not about one address. */
export const AlertCreated = z.object({
  alert_id: Id, title: z.string().max(255), severity: Severity, device_ip: z.string().max(45), type: z.string().max(64),
  source: z.string().max(32),
});

/** An alert is over. `resolved_by`: a user's name, the event that ended its cause, `quiet` or `probe_revoked`. */
export const AlertResolved = AlertCreated.extend({ resolved_by: z.string().max(255) });

/** A backup was written and read back whole. */
export const BackupCompleted = z.object({ backup_id: Id, size_bytes: z.int().min(0), duration_seconds: z.number().min(0) });

/** Somebody took a backup, which holds every tenant's data, to another machine. */
export const BackupDownloaded = z.object({ backup_id: Id, downloaded_by: z.string().max(255), address: z.string().max(64) });

/** A backup could not be made. `reason` is text for people. */
export const BackupFailed = z.object({ backup_id: Id, reason: z.string().max(1024) });

/** An address of a site is not used as it is planned, or is again. */
export const IpamConflictEvent = z.object({
  ip: z.string().max(45),
  state: z.enum(["present", "gone"]),
  kinds: z.array(z.enum(CONFLICT_KINDS)).max(CONFLICT_KINDS.length),
  expected_mac: z.string().max(17).nullable(),
  /** Who has it, or had it when that was last looked at. */
  observed: z.array(z.object({ mac: z.string().max(17), hostname: z.string().max(255) })).max(16),
});

/** A tenant's license has come into another state: about to end, ended, more in use than it is for, or well again. */
export const LicenseState = z.object({
  status: z.enum(LICENSE_STATUSES),
  licensee: z.string().max(255),
  expires_at: Instant.nullable(),
  exceeded: z.array(z.enum(LICENSE_LIMITS)),
  message: z.string().max(512),
});
