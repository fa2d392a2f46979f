import { type Credential, type CredentialRevealed, DeliveredCredentials, type List } from "@lanthorn/contract";
import { describeError, type Log } from "@lanthorn/runtime";
import type { Actor } from "../../gateway/environment.ts";
import { notFound } from "../../gateway/errors.ts";
import { type IdPage, pageById } from "../../gateway/page.ts";
import { type CredentialChanges, credentialChanges, type CredentialChangesDependencies } from "./changes.ts";
import { sealForProbe } from "./credential-delivery.ts";
import { secretOf, toCredential } from "./records.ts";
import type { CredentialRow } from "./store.ts";

/** No record that leaves this service has a secret in it, `reveal`'s aside. */
export interface VaultService extends CredentialChanges {
  list(tenantId: string, page: IdPage): Promise<List<Credential>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, credentialId: string): Promise<Credential>;
  /**
   * Shows the secret, once that is in the audit log.
   * @throws ApiError NOT_FOUND. CollectorError `secret-unreadable`, which the gateway answers.
   */
  reveal(actor: Actor, credentialId: string): Promise<CredentialRevealed>;
  /** What a probe is handed, sealed to its own key; undefined for nothing. Never rejects: what cannot be sealed is logged. */
  sealedFor(probeId: string): Promise<string | undefined>;
  countFor(probeId: string): Promise<number>;
}

/** Checks that each secret has the parts of its type. A probe gets at most `CREDENTIALS_MAX` credentials. */
export function createVaultService(deps: CredentialChangesDependencies & { readonly log: Log }): VaultService {
  const { store, sealing, audit } = deps;
  const show = (row: CredentialRow) => toCredential(sealing, row);
  return {
    ...credentialChanges(deps),

    list: (tenantId, page) => pageById(page, { read: (rows) => store.list(tenantId, rows), count: () => store.count(tenantId), show }),

    async read(tenantId, credentialId) {
      const row = await store.byId(tenantId, credentialId);
      if (!row) throw notFound("credential");
      return show(row);
    },

    reveal: (actor, credentialId) => store.transaction(async (trx) => {
      const row = await store.hold(trx, actor.tenantId, credentialId);
      if (!row) throw notFound("credential");
      const secret = secretOf(sealing, row);
      await audit(trx, {
        actor, action: "credential.reveal", target: { type: "credential", id: credentialId }, before: null, after: { name: row.name },
      });
      return { ...show(row), secret };
    }),

    async sealedFor(probeId) {
      try {
        const rows = await store.ofProbe(probeId);
        if (rows.length === 0) return undefined;
        const credentials = rows.map((row) => ({
          id: row.id, name: row.name, type: row.type, networks: JSON.parse(row.networks) as unknown,
          settings: JSON.parse(row.settings) as unknown, secret: secretOf(sealing, row),
        }));
        const sealed = await sealForProbe(DeliveredCredentials.parse({ probe_id: probeId, credentials }), await store.keysOf(probeId));
        if (sealed !== null) return sealed;
        deps.log.warn({ probe_id: probeId }, "a probe's key is unknown or can only sign: it gets its credentials when it has renewed "
          + "its certificate");
      } catch (error) {
        deps.log.error({ probe_id: probeId, reason: describeError(error) }, "a probe's credentials could not be encrypted to its key");
      }
      return undefined;
    },

    countFor: async (probeId) => (await store.ofProbe(probeId)).length,
  };
}
