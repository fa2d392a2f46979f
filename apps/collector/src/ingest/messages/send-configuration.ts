import type { ProbeConfiguration } from "@lanthorn/contract";
import { describeError, type Log } from "@lanthorn/runtime";
import type { Broker } from "../../broker/broker.ts";
import type { KnownProbe, ProbesStore } from "../probes-store.ts";
import type { KeyedQueue } from "../commit/keyed-queue.ts";

/** Sends probes their configuration. */
export interface ConfigurationSender {
  /** Sends it to one, kept by the broker for when it comes back. Rejects while an external broker is away. */
  send(probe: KnownProbe): Promise<void>;
  /** To each of a site, or of these, after what is under way for it. Never rejects: who gets none now gets it when it reconnects. */
  configured(whom: Parameters<ProbesStore["listOf"]>[0]): Promise<void>;
}

/** @param deps.registry Who knows the configuration of each probe. */
export function createConfigurationSender(deps: {
  readonly registry: { configurationOf(probeId: string): Promise<ProbeConfiguration | null> };
  readonly broker: Pick<Broker, "publish">; readonly probes: Pick<ProbesStore, "listOf">; readonly serial: Pick<KeyedQueue, "run">;
  readonly logger: Log;
}): ConfigurationSender {
  const send = async (probe: KnownProbe) => {
    const message = await deps.registry.configurationOf(probe.probeId);
    if (message) await deps.broker.publish(probe, "config", JSON.stringify(message), { retain: true });
  };
  const warn = (error: unknown, probeId?: string) => {
    deps.logger.warn(
      { probe_id: probeId, reason: describeError(error) }, "cannot send a probe its configuration now; it gets it when it reconnects",
    );
  };
  return {
    send,
    async configured(whom) {
      try {
        const recipients = await deps.probes.listOf(whom);
        await Promise.all(recipients.map(async (probe) => {
          await deps.serial.run(probe.probeId, () => send(probe)).catch((error: unknown) => warn(error, probe.probeId));
        }));
      } catch (error) {
        warn(error);
      }
    },
  };
}
