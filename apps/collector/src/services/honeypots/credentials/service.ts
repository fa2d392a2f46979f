import type { HoneypotCredential, HoneypotCredentialRevealed, HoneypotCredentialsQuery, List } from "@lanthorn/contract";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { notFound, requireSite } from "../../../gateway/errors.ts";
import { pageById } from "../../../gateway/page.ts";
import { ownerOfHoneypotCredential } from "../../../sealing/sealed-columns.ts";
import type { Sealing } from "../../../sealing/sealing.ts";
import type { SessionsStore } from "../sessions/store.ts";
import type { CredentialRow, CredentialsStore } from "./store.ts";

/** What was tried at decoys. No record that leaves this service has a password in it, `reveal`'s aside. */
export interface HoneypotCredentialsService {
  /** Newest first. @throws ApiError NOT_FOUND for a site or session that the tenant does not have. */
  list(tenantId: string, query: HoneypotCredentialsQuery): Promise<List<HoneypotCredential>>;
  /** Shows the password, once that is in the audit log. @throws ApiError NOT_FOUND. CollectorError `secret-unreadable`. */
  reveal(actor: Actor, id: string): Promise<HoneypotCredentialRevealed>;
}

/** @param deps.store See `createCredentialsStore`. @param deps.sessions Sessions by key and id. */
export function createHoneypotCredentialsService({ store, sessions, sealing, audit }: {
  readonly store: CredentialsStore; readonly sessions: Pick<SessionsStore, "byId" | "idsOf">; readonly sealing: Sealing; readonly audit: Audit;
}): HoneypotCredentialsService {
  const keyOf = async (tenantId: string, id: string | undefined) => {
    if (id === undefined) return undefined;
    const row = await sessions.byId(tenantId, id);
    if (!row) throw notFound("session");
    return row.key;
  };
  return {
    async list(tenantId, query) {
      await requireSite(store, tenantId, query.site_id);
      const filter = { siteId: query.site_id, sessionKey: await keyOf(tenantId, query.session_id), username: query.username, isBait: query.is_bait };
      const page = await pageById(query, { read: (rows) => store.list(tenantId, filter, rows), count: () => store.count(tenantId, filter), show: (row) => row });
      const ids = await sessions.idsOf(page.data.map(({ session_key: key }) => key));
      return { ...page, data: page.data.map((row) => toCredential(row, ids)) };
    },

    async reveal(actor, id) {
      const row = await store.transaction(async (trx) => {
        const found = await store.byId(trx, actor.tenantId, id);
        if (!found) throw notFound("credential");
        await audit(trx, {
          actor, action: "honeypot_credential.reveal", target: { type: "honeypot_credential", id }, before: null,
          after: { decoy: found.decoy, service: found.service, username: found.username },
        });
        return { ...found, password: sealing.open(found.password_sealed, ownerOfHoneypotCredential(id)) };
      });
      return { ...toCredential(row, await sessions.idsOf([row.session_key])), password: row.password };
    },
  };
}

function toCredential({ id, site_id, session_key: key, decoy, service, username, is_bait: isBait, tried_at }: CredentialRow, sessionIds: ReadonlyMap<string, string>): HoneypotCredential {
  return { id, site_id, session_id: sessionIds.get(key) ?? null, decoy, service, username, is_bait: isBait === 1, tried_at };
}
