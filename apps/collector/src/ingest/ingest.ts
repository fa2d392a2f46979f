import { type ProbeConfiguration, ProbeHealth, ProbeStatus, Reply } from "@lanthorn/contract";
import { type Clock, describeError, type Log, parseJson, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type * as z from "zod";
import type { Broker, ProbeMessage, ProbeReceiver, RefusalReason, UpChannel } from "../broker/broker.ts";
import type { Schema } from "../db/schema.ts";
import type { EventLog } from "../events/log.ts";
import type { Lease } from "../jobs/lease.ts";
import type { Merges } from "../identity/merges.ts";
import type { DeviceLimits } from "../retention/device-parts-store.ts";
import { createAcknowledgements } from "./acknowledgements.ts";
import { createDeviceGrowth } from "./device-growth.ts";
import { createGroupCommit } from "./group-commit.ts";
import type { IngestMeasure } from "./measure.ts";
import { createPresenceWatch } from "./presence-watch.ts";
import type { Projections } from "./projections/projection.ts";
import { createProbesStore, type KnownProbe } from "./probes-store.ts";
import { createProbeClocks } from "./probe-clock.ts";
import { createQuota, DEFAULT_QUOTA, type QuotaLimits } from "./quota.ts";
import { createRefusals } from "./refusals.ts";
import { createKeyedQueue } from "./keyed-queue.ts";
import { createTakeEvents } from "./take-events.ts";
import { createInFlight } from "./in-flight.ts";

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

export interface IngestDependencies {
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
  readonly registry: {
    configurationOf(probeId: string): Promise<ProbeConfiguration | null>;
    heard(probe: KnownProbe, health: ProbeHealth): Promise<void>;
  };
  /** Who has sent commands, and wants to know what becomes of them. */
  readonly commands?: {
    replied(probe: KnownProbe, reply: Reply): Promise<void>;
    /** A probe has connected. @param runId Another one after each start of its daemon. */
    online(probe: KnownProbe, runId: string): Promise<void>;
  };
  /** What a device may keep, as retention has it. */
  readonly keep: DeviceLimits["keep"];
  /** Left out: `DEFAULT_QUOTA`. */
  readonly quota?: QuotaLimits;
  readonly measure?: IngestMeasure;
  /** Where several processes take what probes send: which of them says that one is silent. */
  readonly duty?: Pick<Lease, "isHeld"> | null;
}

/** A commit takes milliseconds. What waits this long waits for a database that does not take it. */
const LONGEST_WAIT_MS = 30_000;

export function createIngest(deps: IngestDependencies): Ingest {
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
  /** Why the last batch could not be committed, until one can. */
  let fault: string | null = null;
  let isClosed = false;

  const acknowledgements = createAcknowledgements({ broker: deps.broker, refusals, clock, logger });
  const takeEvents = createTakeEvents({
    quota, clocks, group, refusals, acknowledgements, clock, measure: deps.measure,
    onCommitted() {
      fault = null;
    },
  });

  const sendConfiguration = async (probe: KnownProbe) => {
    const message = await deps.registry.configurationOf(probe.probeId);
    if (message) await deps.broker.publish(probe, "config", JSON.stringify(message), { retain: true });
  };

  const untold = (error: unknown, probeId?: string) => {
    logger.warn({ probe_id: probeId, reason: describeError(error) }, "cannot send a probe its configuration now; it gets it when it reconnects");
  };

  const takeStatus = async (probe: KnownProbe, status: ProbeStatus, retained: boolean) => {
    switch (status.state) {
      case "online":
        // Another collector may have been there all the time.
        if (retained) return deps.duty?.isHeld() ?? true ? acknowledgements.askAgain(probe) : undefined;
        await watch.heard(probe);
        if (probe.runId !== status.run_id) await probes.setRun(probe.probeId, { runId: status.run_id, version: status.version });
        await deps.commands?.online(probe, status.run_id);
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
    const parsed = schema.safeParse(parseJson(payload.toString("utf8")));
    if (!parsed.success) refusals.count(probeId, reason);
    return parsed.success ? parsed.data : null;
  };

  const take: { readonly [C in UpChannel]: (probe: KnownProbe, message: ProbeMessage, receivedAt: string) => Promise<void> } = {
    async events(probe, message, receivedAt) {
      await watch.heard(probe);
      await takeEvents(probe, message.payload, receivedAt);
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
      await deps.registry.heard(probe, health);
      fault = null;
    },
    async replies(probe, message) {
      await watch.heard(probe);
      const reply = read(Reply, message, "not-a-reply");
      if (reply) await deps.commands?.replied(probe, reply);
    },
  };

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
    async configured(whom) {
      try {
        const recipients = await probes.listOf(whom);
        await Promise.all(recipients.map(async (probe) => {
          await serial.run(probe.probeId, () => sendConfiguration(probe)).catch((error: unknown) => untold(error, probe.probeId));
        }));
      } catch (error) {
        untold(error);
      }
    },
    health() {
      if (fault === null) return { status: "ok", detail: "events are committed" };
      return { status: "degraded", detail: `events cannot be committed: ${fault}` };
    },
    waiting: () => ({ messages: inFlight.count(), oldestMs: inFlight.oldestMs() }),
    lag() {
      const oldestMs = inFlight.oldestMs();
      const detail = `${inFlight.count()} messages wait, the oldest for ${(oldestMs / 1000).toFixed(1)} s`;
      return { status: oldestMs > LONGEST_WAIT_MS ? "degraded" : "ok", detail };
    },
    async close() {
      isClosed = true;
      quota.close();
      await serial.idle();
      await watch.close();
      await refusals.close();
    },
  };
}
