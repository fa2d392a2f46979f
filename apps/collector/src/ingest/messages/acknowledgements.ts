import { type Acknowledgement, MESSAGE_VERSION } from "@lanthorn/contract";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Broker, ProbeAddress } from "../../broker/broker.ts";
import type { createRefusals } from "./refusals.ts";

/** What a probe is answered. None of them rejects: a probe that does not get it sends its batch again. */
export interface Acknowledgements {
  acknowledge(probe: ProbeAddress, ack: Omit<Acknowledgement, "v" | "received_at" | "sent_at">, receivedAt: string): Promise<void>;
  /** Answers a payload of which nothing was read. */
  refuse(probe: ProbeAddress, reason: "not-a-batch" | "too-large" | "quota", message: string, receivedAt: string): Promise<void>;
  /** Has a probe send again what is not acknowledged. */
  askAgain(probe: ProbeAddress): Promise<void>;
}

/** A refusal has the watermark 0, which confirms nothing. `quota` goes to the probe as `not-ready`, so it sends the batch again. */
export function createAcknowledgements(deps: {
  readonly broker: Pick<Broker, "publish">; readonly refusals: Pick<ReturnType<typeof createRefusals>, "count">;
  readonly clock: Pick<Clock, "now">; readonly logger: Log;
}): Acknowledgements {
  const { refusals, clock, logger } = deps;
  const acknowledge: Acknowledgements["acknowledge"] = async (probe, ack, receivedAt) => {
    const message: Acknowledgement = { v: MESSAGE_VERSION, ...ack, received_at: receivedAt, sent_at: toInstant(clock.now()) };
    try {
      await deps.broker.publish(probe, "acks", JSON.stringify(message), { retain: false });
    } catch (error) {
      // It sends the batch again, and what is committed is acknowledged then.
      logger.debug({ probe_id: probe.probeId, reason: describeError(error) }, "an acknowledgement was not delivered");
    }
  };

  return {
    acknowledge,
    refuse(probe, reason, message, receivedAt) {
      refusals.count(probe.probeId, reason);
      const code = reason === "quota" ? "not-ready" : reason;
      return acknowledge(probe, { queue_id: null, watermark: 0, batch_sent_at: null, refused: { code, message } }, receivedAt);
    },
    // An external broker confirms batches while no collector is there, and forgets them: left alone, the probe would wait up to a minute.
    askAgain: (probe) => acknowledge(probe, {
      queue_id: null, watermark: 0, batch_sent_at: null,
      refused: { code: "not-ready", message: "the collector was away: send again what it has not acknowledged" },
    }, toInstant(clock.now())),
  };
}
