import type { Reaction } from "../events/reaction.ts";

/** More events than a probe may lose without a word to its operator. */
const MAX_LOST = 10_000;

/** Raises an error when a probe lost very many events; the rule for errors makes an alert of it. */
export const gapReaction: Reaction<"queue_gap"> = {
  types: ["queue_gap"],
  react(_trx, { raise }, events) {
    for (const { data, site_id: siteId, probe_id: probeId, occurred_at: occurredAt, received_at: receivedAt } of events) {
      if (data.dropped <= MAX_LOST) continue;
      raise({
        type: "error", siteId, probeId, deviceId: null, queueId: null, probeSeq: null, occurredAt, receivedAt,
        data: { code: "many-events-lost", message: `${data.dropped} events were lost: ${data.reason}` },
      });
    }
    return Promise.resolve();
  },
};
