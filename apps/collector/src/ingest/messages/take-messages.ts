import { ProbeHealth, ProbeStatus, Reply } from "@lanthorn/contract";
import type * as z from "zod";
import type { ProbeMessage, RefusalReason, UpChannel } from "../../broker/broker.ts";
import type { Lease } from "../../jobs/lease.ts";
import type { Acknowledgements } from "./acknowledgements.ts";
import type { PresenceWatch } from "../presence/presence-watch.ts";
import type { ProbeClocks } from "../probe-clock.ts";
import type { KnownProbe, ProbesStore } from "../probes-store.ts";
import { readJson } from "./read-json.ts";
import type { Refusals } from "./refusals.ts";

/** Who beside ingest wants to know what probes say. */
export interface ProbeServices {
  /** The source of each probe's settings, which also records what the probe reports of them. */
  readonly registry: { heard(probe: KnownProbe, health: ProbeHealth): Promise<void> };
  /** Who has sent commands, and wants to know what becomes of them. */
  readonly commands?: {
    replied(probe: KnownProbe, reply: Reply): Promise<void>;
    /** A probe has connected. @param runId Another one after each start of its daemon. */
    online(probe: KnownProbe, runId: string): Promise<void>;
  };
  /** Where several processes take what probes send: which of them says that one is silent. */
  readonly duty?: Pick<Lease, "isHeld"> | null;
}

/** Takes what a probe sends, by its channel. Each rejects where it could not be kept. */
export type TakeMessages = {
  readonly [C in UpChannel]: (probe: KnownProbe, message: ProbeMessage, receivedAt: string) => Promise<void>;
};

/**
 * What each channel of a probe does here. Any message says that the probe is there.
 * @param deps.onKept Is called when a health was written: the database takes what it is given.
 */
export function createTakeMessages(deps: ProbeServices & {
  readonly probes: Pick<ProbesStore, "setRun" | "setHealth">; readonly watch: Pick<PresenceWatch, "heard" | "stopped" | "lost">;
  readonly clocks: Pick<ProbeClocks, "offsetOf">; readonly refusals: Pick<Refusals, "count">;
  readonly acknowledgements: Pick<Acknowledgements, "askAgain">;
  readonly takeEvents: (probe: KnownProbe, payload: Buffer, receivedAt: string) => Promise<void>;
  readonly sendConfiguration: (probe: KnownProbe) => Promise<void>; readonly onKept: () => void;
}): TakeMessages {
  const { probes, watch, clocks, refusals, acknowledgements, takeEvents, sendConfiguration, registry, commands, duty } = deps;
  const takeStatus = async (probe: KnownProbe, status: ProbeStatus, retained: boolean) => {
    switch (status.state) {
      case "online":
        // Another collector may have been there all the time.
        if (retained) return duty?.isHeld() ?? true ? acknowledgements.askAgain(probe) : undefined;
        await watch.heard(probe);
        if (probe.runId !== status.run_id) await probes.setRun(probe.probeId, { runId: status.run_id, version: status.version });
        await commands?.online(probe, status.run_id);
        await sendConfiguration(probe);
        return;
      case "stopped":
        await watch.stopped(probe);
        return;
      case "lost":
        // A last will of an earlier run says nothing about this one.
        if (probe.runId === null || probe.runId === status.run_id) watch.lost(probe);
    }
  };

  /** @returns The value, or null after it was counted as refused. */
  const read = <T extends z.ZodType>(schema: T, { probeId, payload }: ProbeMessage, reason: RefusalReason): z.infer<T> | null => {
    const parsed = schema.safeParse(readJson(payload));
    if (!parsed.success) refusals.count(probeId, reason);
    return parsed.success ? parsed.data : null;
  };

  return {
    async events(probe, message, receivedAt) {
      await watch.heard(probe);
      return takeEvents(probe, message.payload, receivedAt);
    },
    async status(probe, message) {
      const status = read(ProbeStatus, message, "not-a-status");
      if (status) await takeStatus(probe, status, message.retained);
    },
    async health(probe, message) {
      await watch.heard(probe);
      const health = read(ProbeHealth, message, "not-a-health");
      if (!health) return;
      await probes.setHealth(probe.probeId, {
        version: health.version, json: JSON.stringify(health), clockOffsetMs: clocks.offsetOf(probe.probeId) ?? probe.clockOffsetMs,
      });
      await registry.heard(probe, health);
      deps.onKept();
    },
    async replies(probe, message) {
      await watch.heard(probe);
      const reply = read(Reply, message, "not-a-reply");
      if (reply) await commands?.replied(probe, reply);
    },
  };
}
