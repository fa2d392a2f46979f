import type { WebhookEvent } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import { type Attempt, type AttemptOutcome, unanswered } from "./sending/attempt.ts";
import { createCircuit } from "./circuit.ts";
import { type Message, toMessage } from "./sending/payload.ts";
import type { Semaphore } from "./worker/semaphore.ts";
import type { Recorder } from "./worker/recorder.ts";
import type { Sealing } from "../sealing/sealing.ts";
import { type DeliveryStore, type Lane, LANES, type WaitingDelivery, type WebhookRow } from "./store.ts";
import { secretsOf } from "./webhook-secrets.ts";

/** One webhook's deliveries, sent one after the other in each of three lanes: new events, retries, what was asked for again. */
export interface Endpoint {
  /** Something may be due in these lanes. */
  wake(lanes: readonly Lane[]): void;
  /** The webhook as it is now; null when it is not ours any more, and nothing further is sent. */
  update(row: WebhookRow | null): void;
  isIdle(): boolean;
  /** Resolves when no lane sends. */
  settled(): Promise<void>;
}

/** What an endpoint needs, and shares with the others. */
export interface EndpointDependencies {
  readonly store: Pick<DeliveryStore, "next">;
  readonly attempt: Attempt;
  readonly recorder: Recorder;
  readonly places: Semaphore;
  readonly sealing: Sealing;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes nothing further, but lets what is under way end. */
  readonly stopping: AbortSignal;
  /** Gives up what is under way. */
  readonly stop: AbortSignal;
}

/** Read at once; they are small, and their events with them seldom a megabyte together. */
const READ_AT_ONCE = 16;

/**
 * Sends nothing before `wake`. A lane stops at a failed read or an open circuit and goes on at the next `wake`.
 * @param first The webhook as it was claimed.
 */
export function createEndpoint(deps: EndpointDependencies, first: WebhookRow): Endpoint {
  const { clock, log } = deps;
  const circuit = createCircuit(() => clock.monotonic());
  let row: WebhookRow | null = first;
  const running = new Map<Lane, Promise<void>>();
  const wanted = new Set<Lane>();

  const sendable = (lane: Lane): WebhookRow | null => {
    if (deps.stopping.aborted || row?.active !== 1) return null;
    // A retry keeps its own time, and is seldom.
    return lane !== "retry" && circuit.waitMs() > 0 ? null : row;
  };

  /** @returns False when the lane is to stop here. */
  const deliver = async (lane: Lane, delivery: WaitingDelivery): Promise<boolean> => {
    const giveBack = await deps.places.take(circuit.isSlow());
    let outcome: AttemptOutcome | null;
    try {
      const webhook = sendable(lane);
      if (!webhook) return false;
      const startedAt = clock.monotonic();
      outcome = await makeAttempt(deps, webhook, delivery);
      if (!outcome) return false;
      if (!outcome.isHopeless) circuit.attempted(outcome.statusCode !== null, clock.monotonic() - startedAt);
    } finally {
      giveBack();
    }
    // The next one is sent only when this outcome is kept: a crash repeats no more than this one.
    const after = await deps.recorder.record({ delivery, outcome });
    if (row !== null) row = after;
    return true;
  };

  const drain = async (lane: Lane) => {
    for (;;) {
      wanted.delete(lane);
      if (!sendable(lane)) return;
      const due = await deps.store.next(first.id, lane, { now: clock.now(), limit: READ_AT_ONCE });
      for (const delivery of due) {
        if (!sendable(lane) || !(await deliver(lane, delivery))) return;
      }
      if (due.length < READ_AT_ONCE && !wanted.has(lane)) return;
    }
  };

  const run = async (lane: Lane) => {
    try {
      await drain(lane);
    } catch (error) {
      // Whoever looks for what is due comes back to it.
      log.error({ webhook_id: first.id, reason: describeError(error) }, "deliveries of a webhook could not be read");
    } finally {
      running.delete(lane);
    }
  };

  return {
    wake(lanes) {
      for (const lane of lanes) {
        if (running.has(lane)) wanted.add(lane);
        else running.set(lane, run(lane));
      }
    },
    update(next) {
      row = next;
    },
    isIdle: () => running.size === 0,
    async settled() {
      while (running.size > 0) await Promise.all(running.values());
    },
  };
}

/** @returns Null where it was given up, as at the end of the process; what cannot be sent is an outcome, too. */
async function makeAttempt(
  { attempt, sealing, stop, clock, log }: EndpointDependencies, webhook: WebhookRow, delivery: WaitingDelivery,
): Promise<AttemptOutcome | null> {
  const now = toInstant(clock.now());
  const message = messageOf(delivery);
  if (!message) return { ...unanswered(now, "forgotten: the event log no longer has the event"), isHopeless: true };
  try {
    return await attempt({ url: webhook.url, secrets: secretsOf(sealing, webhook, now), message, stop });
  } catch (error) {
    log.error({ webhook_id: webhook.id, reason: describeError(error) }, "a webhook delivery could not be attempted");
    return unanswered(now, "internal: the delivery could not be attempted; see the collector's log");
  }
}

/** Every lane, for who knows only that something changed. */
export const ALL_LANES: readonly Lane[] = LANES;

function messageOf({ source, event }: WaitingDelivery): Message | null {
  return source && toMessage({ ...source, event: event as WebhookEvent, data: JSON.parse(source.data) as object });
}
