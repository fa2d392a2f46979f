import { type Clock, nextTurn } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { newDelivery } from "../../deliveries/reaction.ts";
import { addReplays, countWanted, readWanted } from "./replay-store.ts";
import { typesOf, webhookEventOf } from "../../deliveries/sending/payload.ts";
import { firstSince } from "../../events/first-since-store.ts";
import type { Audit, AuditEntry } from "../../gateway/audit.ts";
import type { WebhookRow } from "./records.ts";

interface Period {
  readonly since: string;
  readonly until: string;
}

/** Puts events of the log on their way to a webhook again. */
export interface Replay {
  /**
   * Those that were received from `since` on and before `until`, of the types that the webhook takes, once each: what already
   * waits to be sent again is left alone, so that a repeated request repeats nothing.
   * @returns How many were put on their way; null, and nothing is, when there are more than `most`.
   */
  run(actor: AuditEntry["actor"], webhook: WebhookRow, period: Period, most: number): Promise<number | null>;
}

/** Events in one transaction: some milliseconds, in which ingest waits. */
const CHUNK_EVENTS = 500;

/** Queues 500 deliveries in a transaction. After a crash those before it stay queued, and the request can be sent again. */
export function createReplay(deps: {
  readonly db: Kysely<Schema>;
  readonly reads: Kysely<Schema>;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}): Replay {
  const { db, reads, audit, clock } = deps;
  return {
    async run(actor, webhook, { since, until }, most) {
      const { tenant_id: tenantId, id: webhookId } = webhook;
      const types = typesOf(new Set(JSON.parse(webhook.events) as string[]));
      const [from, to] = [await firstSince(reads, tenantId, since), await firstSince(reads, tenantId, until)];
      const wanted = { tenantId, webhookId, from, to, types };
      const total = await countWanted(reads, wanted);
      if (total > most) return null;
      let queued = 0;
      for (let after = from - 1; ;) {
        const events = await db.transaction().execute(async (trx) => {
          const rows = await readWanted(trx, wanted, { after, limit: CHUNK_EVENTS });
          const at = new Date(clock.now()).toISOString();
          await addReplays(
            trx, rows.map((row) => newDelivery(webhookId, { ...row, event: webhookEventOf(row.type) ?? "" }, { lane: "replay", at })),
          );
          if (after < from) {
            await audit(
              trx,
              {
                actor, action: "webhook.replay", target: { type: "webhook", id: webhookId }, before: null,
                after: { since, until, events: total },
              },
            );
          }
          return rows;
        });
        queued += events.length;
        if (events.length < CHUNK_EVENTS) return queued;
        after = events.at(-1)?.seq ?? after;
        await nextTurn();
      }
    },
  };
}
