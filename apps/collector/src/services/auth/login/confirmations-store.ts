import type { Kysely } from "kysely";
import type { Schema } from "../../../db/schema.ts";

/** Notes until when a token counts as confirmed. */
export async function confirmToken(
  trx: Kysely<Schema>, { tokenId: jti, tenantId: tenant_id }: { readonly tokenId: string; readonly tenantId: string }, until: string,
): Promise<void> {
  await trx.insertInto("confirmed_tokens").values({ jti, tenant_id, confirmed_until: until })
    .onConflict((conflict) => conflict.column("jti").doUpdateSet({ confirmed_until: until })).execute();
}

/** Whether a token is confirmed until a moment after `now`, and not after `latest`. */
export async function isTokenConfirmed(
  reads: Kysely<Schema>, { tokenId, tenantId }: { readonly tokenId: string; readonly tenantId: string },
  { now, latest }: { readonly now: string; readonly latest: string },
): Promise<boolean> {
  const row = await reads.selectFrom("confirmed_tokens").select("jti").where("jti", "=", tokenId).where("tenant_id", "=", tenantId)
    .where("confirmed_until", ">", now).where("confirmed_until", "<=", latest).executeTakeFirst();
  return row !== undefined;
}
