import { createHealthAlerts } from "../../health/alerts.ts";
import { createHealthWatch, type HealthWatch } from "../../health/health.ts";
import { createMachineReader } from "../../health/machine.ts";
import { limitsOf } from "../../health/metrics.ts";
import { certificateLifetime } from "../../identity/identity.ts";
import { subnetsOf } from "../../capture/link.ts";
import type { SiteConfiguration } from "../../uplink/site-configuration.ts";
import type { DecoysListener } from "../../decoy/link/decoy-listener.ts";
import type { ResolverListener } from "../../resolver/link/resolver-listener.ts";
import type { Uplink } from "../../uplink/uplink.ts";
import type { Intrusions } from "./open-intrusions.ts";
import type { Queue } from "./open-queue.ts";
import type { Traffic } from "./open-traffic.ts";
import type { Watch } from "./open-watch.ts";
import type { RoundContext } from "./round-context.ts";
import type { Transfers } from "./transfers.ts";
import { createStatusWriter } from "../status-writer.ts";

/** Watches the probe itself: alerts, health reports to the collector, and the file of `lanthorn-probe status`. */
export function openHealth(context: RoundContext, { db, outbox, watch, uplink, siteConfiguration, transfers, traffic, intrusions, resolver, decoys }: Queue & {
  readonly watch: Watch;
  readonly uplink: Uplink;
  readonly siteConfiguration: SiteConfiguration;
  readonly transfers: Transfers | null;
  readonly traffic: Traffic | null;
  readonly intrusions: Intrusions | null;
  readonly resolver: ResolverListener | null;
  readonly decoys: Pick<DecoysListener, "state"> | null;
}): HealthWatch {
  const { configuration, version, clock, log, lifecycle, identity } = context;
  const { lan, interfaceName } = watch;
  const alerts = createHealthAlerts({
    db, outbox, log, limits: limitsOf(configuration.health.limits), samples: configuration.health.samples,
  });
  const status = createStatusWriter({
    dataDir: configuration.data_dir, intervalSeconds: configuration.health.interval_seconds, mqttUrl: configuration.collector.mqtt_url,
    version, interfaceName, clock, log, identity,
    uplink: () => uplink.state(), outbox: () => outbox.state(), lan, alerts,
    siteName: () => siteConfiguration.current()?.site_name ?? null,
  });
  lifecycle.onClose("status", () => status.close());
  const health = createHealthWatch({
    sources: {
      machine: createMachineReader({ dataDir: configuration.data_dir, clock }),
      outbox: () => outbox.state(),
      capture: () => lan.counters(),
      interface: () => ({ name: interfaceName, up: context.replay !== null || lan.facts()?.up === true, networks: subnetsOf(lan.facts()) }),
      hosts: () => watch.discovery.counts(),
      clockOffsetMs: () => uplink.state().clockOffsetMs,
      certificateEndsAt: () => certificateLifetime(identity()).to,
      configuration: () => siteConfiguration.state(),
      guards: () => watch.guards.state(),
      ids: () => intrusions?.state() ?? null,
      resolver: () => resolver?.state() ?? null,
      decoys: () => decoys?.state() ?? null,
      coverage: () => watch.guards.coverage(),
      networkFacts: () => watch.guards.networkFacts(),
      traffic: () => traffic && { health: traffic.health(), ...traffic.sums() },
      bundles: () => [...transfers?.bundles.state() ?? []],
    },
    alerts, clock,
    budgetBytes: configuration.queue.disk_budget_bytes,
    intervalMs: configuration.health.interval_seconds * 1000,
    version,
    onHealth(report) {
      uplink.publishHealth(report);
      status.write(report);
      outbox.tidy();
    },
  });
  lifecycle.onClose("health", () => health.close());
  return health;
}
