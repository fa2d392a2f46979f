import { createSpool } from "../../files/spool.ts";
import type { DecoysListener } from "../../decoy/link/decoy-listener.ts";
import { certificateLifetime } from "../../identity/identity.ts";
import { createRenewalSchedule } from "../../identity/renewal-schedule.ts";
import type { SiteConfiguration } from "../../uplink/site-configuration.ts";
import { createUplink, type Uplink } from "../../uplink/uplink.ts";
import { commandHandlers } from "../command-handlers.ts";
import type { Queue } from "./open-queue.ts";
import type { Traffic } from "./open-traffic.ts";
import type { Watch } from "./open-watch.ts";
import { createReplayEnd, type ReplayEnd } from "../replay-end.ts";
import type { RoundContext } from "./round-context.ts";

/** The connection to the collector. */
export function openUplink(context: RoundContext, { outbox, watch, siteConfiguration, traffic, decoys }: Pick<Queue, "outbox"> & {
  readonly watch: Watch;
  readonly siteConfiguration: SiteConfiguration;
  readonly traffic: Traffic | null;
  readonly decoys: DecoysListener | null;
}): Uplink {
  const { configuration, clock, random, log } = context;
  const { data_dir: dataDir, files: { disk_budget_bytes: budgetBytes } } = configuration;
  const { tenant_id: tenantId, probe_id: probeId } = context.identity();
  const uplink = createUplink({
    outbox, version: context.version, clock, random, log,
    identity: { tenantId, probeId },
    credentials: () => {
      const identity = context.identity();
      return {
        url: configuration.collector.mqtt_url ?? identity.mqtt_url, clientId: identity.probe_id,
        ca: identity.ca_certificate, certificate: identity.certificate, key: identity.private_key,
      };
    },
    handlers: commandHandlers({ ...watch, interfaceRead: watch.lan.firstRead, traffic, decoys, stored: { dataDir, spool: createSpool({ dataDir, budgetBytes }) } }),
    onConfiguration: (payload) => siteConfiguration.onMessage(payload),
    onConnected: () => watch.discovery.reportAll(),
  });
  context.lifecycle.onClose("uplink", () => uplink.close());
  return uplink;
}

/** Ends the round when all that a capture file showed has reached the collector, where that is wanted. */
export function openReplayEnd(context: RoundContext, { outbox, uplink }: Pick<Queue, "outbox"> & { readonly uplink: Uplink }): ReplayEnd {
  const replayEnd = createReplayEnd({
    drained: () => uplink.drained(), lastSeq: () => outbox.state().lastSeq, clock: context.clock, log: context.log,
    onDrained: context.replay?.exitWhenDrained === true ? () => context.finish({ kind: "stopped" }) : null,
  });
  context.lifecycle.onClose("replay", () => replayEnd.close());
  return replayEnd;
}

/** Renews the certificate in time. @param onRenewed There is a new one in the data directory. */
export function openRenewal(context: RoundContext, onRenewed: () => void): void {
  const { clock, random, log } = context;
  const renewal = createRenewalSchedule({
    lifetime: () => certificateLifetime(context.identity()), renew: context.renewCertificate, clock, random, log, onRenewed,
  });
  context.lifecycle.onClose("renewal", () => renewal.close());
}
