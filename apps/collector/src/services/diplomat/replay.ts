import { type Clock, nextTurn } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { insertMany } from "../../db/write-many.ts";
import type { Schema } from "../../db/schema.ts";
import { newDelivery } from "../../deliveries/reaction.ts";
import { typesOf, webhookEventOf } from "../../deliveries/payload.ts";
import { firstSince } from "../../events/first-since.ts";
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
      const wanted = (handle: Kysely<Schema>) => handle.selectFrom("events as e").where("e.tenant_id", "=", tenantId)
        .where("e.seq", ">=", from).where("e.seq", "<", to)
        .where("e.type", "in", types)
        .where((eb) => eb.not(eb.exists(eb.selectFrom("webhook_deliveries as d").select("d.id")
          .where("d.webhook_id", "=", webhookId).where("d.lane", "=", "replay").whereRef("d.event_seq", "=", "e.seq"))));
      const { total } = await wanted(reads).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      if (total > most) return null;
      let queued = 0;
      for (let after = from - 1; ;) {
        const events = await db.transaction().execute(async (trx) => {
          const rows = await wanted(trx).select(["e.id", "e.tenant_id", "e.type", "e.seq"]).where("e.seq", ">", after).orderBy("e.seq")
            .limit(CHUNK_EVENTS).execute();
          const at = new Date(clock.now()).toISOString();
          await insertMany(
            trx, "webhook_deliveries",
            rows.map((row) => newDelivery(webhookId, { ...row, event: webhookEventOf(row.type) ?? "" }, { lane: "replay", at })),
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
