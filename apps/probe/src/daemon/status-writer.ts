import type { DecoysState, ProbeHealth } from "@lanthorn/contract/uplink";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { LanWatch } from "../capture/lan-watch.ts";
import type { HealthAlerts } from "../health/alerts.ts";
import { certificateLifetime, type Identity } from "../identity/identity.ts";
import type { OutboxState } from "../queue/outbox.ts";
import { removeStatus, writeStatus } from "../status/status-file.ts";
import type { UplinkState } from "../uplink/uplink.ts";

/** Leaves what `lanthorn-probe status` shows in the data directory. */
export interface StatusWriter {
  write(health: ProbeHealth): void;
  /** Takes it away: nobody runs any more. */
  close(): void;
}

/** A fault of the disk is logged once until a write succeeds again; nothing is thrown. Functions in `deps` are read at each write. */
export function createStatusWriter(deps: {
  readonly dataDir: string;
  /** How often it is written. */
  readonly intervalSeconds: number;
  /** Where the collector's broker is, as the probe's file says; null for where enrollment said. */
  readonly mqttUrl: string | null;
  readonly version: string;
  readonly interfaceName: string;
  readonly identity: () => Identity;
  readonly uplink: () => UplinkState;
  readonly outbox: () => OutboxState;
  readonly lan: Pick<LanWatch, "facts" | "problem">;
  readonly alerts: Pick<HealthAlerts, "raised">;
  readonly siteName: () => string | null;
  readonly clock: Clock;
  readonly log: Log;
}): StatusWriter {
  const { clock, dataDir } = deps;
  const startedAt = toInstant(clock.now());
  const instant = (ms: number | null) => (ms === null ? null : toInstant(ms));
  let failing = false;
  return {
    write(health) {
      const identity = deps.identity();
      const uplink = deps.uplink();
      const queue = deps.outbox();
      try {
        writeStatus(dataDir, {
          pid: process.pid, version: deps.version, started_at: startedAt, written_at: toInstant(clock.now()),
          interval_seconds: deps.intervalSeconds,
          probe_id: identity.probe_id, site_name: deps.siteName(),
          collector: {
            url: deps.mqttUrl ?? identity.mqtt_url, connected: uplink.connected, since: instant(uplink.since),
            problem: uplink.problem, last_acknowledged_at: instant(uplink.lastAcknowledgedAt), clock_offset_ms: uplink.clockOffsetMs,
          },
          certificate_expires_at: toInstant(certificateLifetime(identity).to),
          interface: {
            name: deps.interfaceName, up: health.interface.up, problem: deps.lan.problem(),
            addresses: deps.lan.facts()?.addresses.map(({ ip, prefixLength }) => `${ip}/${prefixLength}`) ?? [],
          },
          queue: {
            events: queue.events, bytes: queue.bytes, oldest_at: queue.oldestAt, dropped: queue.dropped,
            writable: queue.writable, in_memory: queue.inMemory,
          },
          hosts: health.hosts,
          process: { cpu_percent: health.cpu_percent, rss_bytes: health.memory.rss_bytes },
          alerts: [...deps.alerts.raised()], decoys: health.decoys ? describeDecoys(health.decoys) : [],
        });
        failing = false;
      } catch (error) {
        if (!failing) deps.log.warn({ reason: describeError(error) }, "the status cannot be written; lanthorn-probe status shows nothing");
        failing = true;
      }
    },
    close() {
      try {
        removeStatus(dataDir);
      } catch {
        // It goes stale by itself.
      }
    },
  };
}

function describeDecoys({ is_running: isRunning, decoys }: DecoysState): string[] {
  return decoys.map(({ name, address, services, own_address: own }) => {
    const problem = isRunning ? own?.problem ?? services.find((one) => one.problem !== null)?.problem ?? null : "its process, lanthorn-decoy, does not run";
    const served = services.filter((one) => one.problem === null).length;
    return `${name} at ${address}${own ? ` (${own.mac} on ${own.interface})` : ""}: ${served} of ${services.length} services${problem === null ? "" : `; ${problem}`}`;
  });
}
