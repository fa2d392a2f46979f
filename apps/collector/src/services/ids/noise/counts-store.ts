import { type Insertable, type Kysely, sql, type Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";

/** How often a signature matched, by an event. Events of no site are not counted. */
export type SignatureCount = Omit<Insertable<Schema["ids_signature_counts"]>, "site_id"> & { readonly site_id: string | null };

/** Rows of a site and day: a probe that makes up signatures and hosts fills no disk. Beyond it hosts are counted together, then signatures. */
const MAX_ROWS = 5000;

/** Adds to what was counted, in the same order for all, so that two never wait for each other. */
export async function countSignatures(trx: Transaction<Schema>, counts: readonly SignatureCount[]): Promise<void> {
  const room = new Map<string, number>();
  const keyOf = (one: SignatureCount) => `${one.site_id} ${one.day} ${one.generator_id} ${one.signature_id} ${one.host}`;
  for (const count of counts.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))) {
    const { site_id: siteId, day } = count;
    if (siteId === null) continue;
    const place = `${siteId} ${day}`;
    const left = room.get(place) ?? MAX_ROWS - (await rowsOf(trx, siteId, day));
    room.set(place, left - 1);
    const row = { ...count, site_id: siteId, ...(left <= MAX_ROWS / 10 && { host: "" }), ...(left <= 0 && { generator_id: 0, signature_id: 0, signature: "others", category: "" }) };
    await trx.insertInto("ids_signature_counts").values(row).onConflict((conflict) =>
      conflict.columns(["site_id", "day", "generator_id", "signature_id", "host"]).doUpdateSet({
        alerts: sql`ids_signature_counts.alerts + excluded.alerts`, suppressed: sql`ids_signature_counts.suppressed + excluded.suppressed`,
        would_block: sql`ids_signature_counts.would_block + excluded.would_block`, last_at: sql`excluded.last_at`,
      })).execute();
  }
}

async function rowsOf(trx: Transaction<Schema>, siteId: string, day: string): Promise<number> {
  const { rows } = await trx.selectFrom("ids_signature_counts").select((eb) => eb.fn.countAll<number>().as("rows")).where("site_id", "=", siteId).where("day", "=", day)
    .executeTakeFirstOrThrow();
  return rows;
}

/** What was counted of a signature, over days and hosts. */
export interface CountedSignature {
  readonly generator_id: number;
  readonly signature_id: number;
  readonly signature: string;
  readonly category: string;
  readonly host: string;
  readonly alerts: number;
  readonly suppressed: number;
  readonly would_block: number;
}

/** What was counted, a row for each signature and host. */
export interface CountsStore {
  since(tenantId: string, day: string, siteId: string | undefined): Promise<readonly CountedSignature[]>;
  /** How often a signature matched as far as that is kept. */
  ofSignature(tenantId: string, rule: { readonly gid: number; readonly sid: number }): Promise<number>;
  /** The first day on which anything matched; null for none. */
  firstDay(tenantId: string): Promise<string | null>;
  forgetBefore(day: string): Promise<number>;
}

/** Over the collector's database. */
export function createCountsStore({ db, reads }: { readonly db: Kysely<Schema>; readonly reads: Kysely<Schema> }): CountsStore {
  return {
    since: (tenantId, day, siteId) => reads.selectFrom("ids_signature_counts")
      .select(({ fn }) => [
        "generator_id", "signature_id", "host", fn.max("signature").as("signature"), fn.max("category").as("category"), fn.sum<number>("alerts").as("alerts"),
        fn.sum<number>("suppressed").as("suppressed"), fn.sum<number>("would_block").as("would_block"),
      ])
      .where("tenant_id", "=", tenantId).where("day", ">=", day).$if(siteId !== undefined, (query) => query.where("site_id", "=", siteId ?? ""))
      .groupBy(["generator_id", "signature_id", "host"]).execute(),
    async ofSignature(tenantId, { gid, sid }) {
      const { total } = await reads.selectFrom("ids_signature_counts").select(({ fn }) => fn.sum<number | null>("alerts").as("total")).where("tenant_id", "=", tenantId)
        .where("generator_id", "=", gid).where("signature_id", "=", sid).executeTakeFirstOrThrow();
      return total ?? 0;
    },
    firstDay: async (tenantId) =>
      (await reads.selectFrom("ids_signature_counts").select(({ fn }) => fn.min("day").as("day")).where("tenant_id", "=", tenantId).executeTakeFirst())?.day ?? null,
    async forgetBefore(day) {
      const { numDeletedRows } = await db.deleteFrom("ids_signature_counts").where("day", "<", day).executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}
