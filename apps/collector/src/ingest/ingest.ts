import type { ProbeConfiguration } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Broker, ProbeMessage, ProbeReceiver } from "../broker/broker.ts";
import type { Schema } from "../db/schema.ts";
import type { EventLog } from "../events/log.ts";
import type { Merges } from "../identity/merging/merges.ts";
import type { DeviceLimits } from "../retention/device-parts-store.ts";
import { createAcknowledgements } from "./messages/acknowledgements.ts";
import { createDeviceGrowth } from "./devices/device-growth.ts";
import { createGroupCommit } from "./commit/group-commit.ts";
import type { IngestMeasure } from "./messages/measure.ts";
import { createPresenceWatch } from "./presence/presence-watch.ts";
import type { Projections } from "./projections/projection.ts";
import { createProbesStore } from "./probes-store.ts";
import { createProbeClocks } from "./probe-clock.ts";
import { createQuota, DEFAULT_QUOTA, type QuotaLimits } from "./messages/quota.ts";
import { createRefusals } from "./messages/refusals.ts";
import { createConfigurationSender } from "./messages/send-configuration.ts";
import { createKeyedQueue } from "./commit/keyed-queue.ts";
import { createTakeEvents } from "./commit/take-events.ts";
import { createTakeMessages, type ProbeServices } from "./messages/take-messages.ts";
import { createInFlight, type InFlight } from "./commit/in-flight.ts";

/** Takes what probes send and commits it. Pass it to `Broker.start`. */
export interface Ingest extends ProbeReceiver {
  /** Before the broker is started. */
  start(): Promise<void>;
  /** Asks all probes to send again what nobody has confirmed: after one that had taken it has died. Never rejects. */
  askAllAgain(): Promise<void>;
  /** To be called after a revocation is committed: the site's devices are no longer watched by this probe. */
  revoked(probeId: string): Promise<void>;
  /** Call it after a change of the settings of a site's probes, or of these probes: sends them to each, or when it reconnects. Never rejects. */
  configured(whom: { readonly siteId: string } | { readonly probeIds: readonly string[] }): Promise<void>;
  health(): { readonly status: "ok" | "degraded"; readonly detail: string };
  /** Messages that have arrived and are not committed yet, and how long the oldest has waited. */
  waiting(): { readonly messages: number; readonly oldestMs: number };
  /** Degraded while messages wait far longer than a commit takes. */
  lag(): { readonly status: "ok" | "degraded"; readonly detail: string };
  /** Takes nothing more, lets what is under way be committed and acknowledged. Close the broker after it. */
  close(): Promise<void>;
}

/** What ingest needs of the other parts. `published` is called after the commit. */
export interface IngestDependencies extends ProbeServices {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly log: EventLog;
  readonly merges: Merges;
  readonly projections: Projections;
  /** Tells the live stream of committed events. */
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly broker: Pick<Broker, "publish" | "health">;
  readonly clock: Clock;
  readonly logger: Log;
  readonly silentAfterSeconds: number;
  /** The source of each probe's settings, which also records what the probe reports of them. */
  readonly registry: ProbeServices["registry"] & { configurationOf(probeId: string): Promise<ProbeConfiguration | null> };
  /** What a device may keep, as retention has it. */
  readonly keep: DeviceLimits["keep"];
  /** Left out: `DEFAULT_QUOTA`. */
  readonly quota?: QuotaLimits;
  readonly measure?: IngestMeasure;
}

/** A commit takes milliseconds. What waits this long waits for a database that does not take it. */
const MAX_WAIT_MS = 30_000;

/** Messages of one probe are taken one after another; batches of different probes can share a transaction. */
export function createIngest(deps: IngestDependencies): Ingest {
  const { clock, logger } = deps;
  const { serial, probes, refusals, inFlight, clocks, quota, group, watch, acknowledgements, configurations } = createParts(deps);
  /** Why the last batch could not be committed, until one can. */
  let fault: string | null = null;
  let isClosed = false;

  const forgetFault = () => {
    fault = null;
  };
  const takeEvents = createTakeEvents({
    quota, clocks, group, refusals, acknowledgements, clock, measure: deps.measure, onCommitted: forgetFault,
  });

  const take = createTakeMessages({
    ...deps, probes, watch, clocks, refusals, acknowledgements, takeEvents, sendConfiguration: configurations.send, onKept: forgetFault,
  });

  const receive = async (message: ProbeMessage, receivedAt: string) => {
    const probe = await probes.find(message.probeId);
    if (!probe || probe.tenantId !== message.tenantId) {
      logger.debug({ probe_id: message.probeId }, "a message of a probe that is unknown or revoked");
      return;
    }
    if (message.channel !== "events" && !quota.maySpeak(probe.probeId)) return refusals.count(probe.probeId, "quota");
    await take[message.channel](probe, message, receivedAt);
  };

  return {
    start: () => watch.start(),
    async receive(message) {
      if (isClosed) return;
      const receivedAt = toInstant(clock.now());
      const leave = quota.enter(message.probeId, message.payload.length);
      if (leave === null) {
        if (message.channel === "events") await acknowledgements.refuse(message, "quota", "too many batches wait already", receivedAt);
        else refusals.count(message.probeId, "quota");
        return;
      }
      const done = inFlight.begin();
      try {
        await serial.run(message.probeId, () => receive(message, receivedAt));
      } catch (error) {
        // No acknowledgement: the probe keeps what it has and sends it again.
        fault = describeError(error);
        logger.error({ probe_id: message.probeId, channel: message.channel, reason: fault }, "a message could not be processed");
      } finally {
        done();
        leave();
      }
    },
    refused(probe, reason, channel) {
      const isAnswered = channel === "events" && reason === "too-large" && !isClosed;
      if (isAnswered) void acknowledgements.refuse(probe, reason, "the payload is too large to be read", toInstant(clock.now()));
      else refusals.count(probe.probeId, reason);
    },
    async askAllAgain() {
      try {
        await Promise.all((await probes.listOnline()).map(acknowledgements.askAgain));
      } catch (error) {
        logger.warn({ reason: describeError(error) }, "probes could not be asked to send again");
      }
    },
    revoked: (probeId) => watch.revoked(probeId),
    configured: configurations.configured,
    health() {
      if (fault === null) return { status: "ok", detail: "events are committed" };
      return { status: "degraded", detail: `events cannot be committed: ${fault}` };
    },
    waiting: () => ({ messages: inFlight.count(), oldestMs: inFlight.oldestMs() }),
    lag: () => lagOf(inFlight),
    async close() {
      isClosed = true;
      quota.close();
      await serial.idle();
      await watch.close();
      await refusals.close();
    },
  };
}

function lagOf(inFlight: InFlight): ReturnType<Ingest["lag"]> {
  const oldestMs = inFlight.oldestMs();
  const detail = `${inFlight.count()} messages wait, the oldest for ${(oldestMs / 1000).toFixed(1)} s`;
  return { status: oldestMs > MAX_WAIT_MS ? "degraded" : "ok", detail };
}

/** What ingest is made of, beside what takes messages. */
function createParts(deps: IngestDependencies) {
  const { clock, logger } = deps;
  const serial = createKeyedQueue();
  const probes = createProbesStore(deps);
  const refusals = createRefusals({ probes, clock, log: logger, measure: deps.measure });
  const inFlight = createInFlight({ clock });
  const clocks = createProbeClocks({ clock });
  const quota = createQuota({ clock }, deps.quota ?? DEFAULT_QUOTA);
  const group = createGroupCommit({
    db: deps.db, log: deps.log, merges: deps.merges, growth: createDeviceGrowth(deps.keep), projections: deps.projections, published: deps.published, logger,
    measure: deps.measure,
  });
  const watch = createPresenceWatch({
    db: deps.db, log: deps.log, published: deps.published, probes, clock, logger, silentAfterSeconds: deps.silentAfterSeconds,
    duty: deps.duty ?? null,
    canHear: () => deps.broker.health().status === "ok",
    serial: (probeId, work) => serial.run(probeId, work),
  });
  const acknowledgements = createAcknowledgements({ broker: deps.broker, refusals, clock, logger });
  const configurations = createConfigurationSender({ ...deps, probes, serial });
  return { serial, probes, refusals, inFlight, clocks, quota, group, watch, acknowledgements, configurations };
}
