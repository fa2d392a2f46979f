import {
  type Credential, type CredentialCreate, type CredentialRevealed, CREDENTIALS_MAX, type CredentialType, type CredentialUpdate,
  HandedCredentials, type List,
} from "@lanthorn/contract";
import { type Clock, createId, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import { isDuplicate } from "../../db/constraints.ts";
import { plainNetworks } from "../../db/plain-networks.ts";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { type IdPage, pageById } from "../../gateway/page.ts";
import { ownerOfCredential } from "../../sealing/sealed-columns.ts";
import { isUnreadable, type Sealing } from "../../sealing/sealing.ts";
import { sealForProbe } from "./credential-delivery.ts";
import { checkParts } from "./parts.ts";
import type { Assigned, CredentialRow, VaultStore } from "./store.ts";

/** No record that leaves this service has a secret in it, `reveal`'s aside. */
export interface VaultService {
  list(tenantId: string, page: IdPage): Promise<List<Credential>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, credentialId: string): Promise<Credential>;
  /**
   * It is sent to its probes when it is committed.
   * @throws ApiError NOT_FOUND for a site or probe that the tenant does not have; CONFLICT for a name that is taken, or a probe
   * that would get too many.
   */
  create(actor: Actor, credential: CredentialCreate): Promise<Credential>;
  /** The change is sent to probes that had it or get it. @throws ApiError as `create`; BAD_REQUEST for parts that are not the type's. */
  update(actor: Actor, credentialId: string, change: CredentialUpdate): Promise<Credential>;
  /** @throws ApiError NOT_FOUND. */
  remove(actor: Actor, credentialId: string): Promise<void>;
  /**
   * Shows the secret, once that is in the audit log.
   * @throws ApiError NOT_FOUND. CollectorError `secret-unreadable`, which the gateway answers.
   */
  reveal(actor: Actor, credentialId: string): Promise<CredentialRevealed>;
  /** What a probe is handed, sealed to its own key; undefined for nothing. Never rejects: what cannot be sealed is logged. */
  sealedFor(probeId: string): Promise<string | undefined>;
  countFor(probeId: string): Promise<number>;
}

interface VaultDependencies {
  readonly store: VaultStore;
  readonly sealing: Sealing;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** After a change of what probes are handed was committed; nobody waits for it. */
  readonly onHanded: (probeIds: readonly string[]) => Promise<void>;
}

/** Checks that each secret has the parts of its type. A probe gets at most `CREDENTIALS_MAX` credentials. */
export function createVaultService(deps: VaultDependencies): VaultService {
  const { store, sealing, audit, clock } = deps;
  const now = () => toInstant(clock.now());
  const secretOf = (row: Pick<CredentialRow, "id" | "secret_sealed">) =>
    JSON.parse(sealing.open(row.secret_sealed, ownerOfCredential(row.id))) as Record<string, string>;
  /** None where the secret was sealed with a key that is lost: the rest of the record can still be read, and a new secret be set. */
  const partsOf = (row: CredentialRow): string[] => {
    try {
      return Object.keys(secretOf(row)).toSorted();
    } catch (error) {
      if (isUnreadable(error)) return [];
      throw error;
    }
  };
  const show = (row: CredentialRow): Credential => ({
    id: row.id, name: row.name, type: row.type as CredentialType, settings: JSON.parse(row.settings) as Credential["settings"],
    parts: partsOf(row), networks: JSON.parse(row.networks) as string[], site_ids: [...row.assigned.site_ids],
    probe_ids: [...row.assigned.probe_ids], created_at: row.created_at, updated_at: row.updated_at,
  });
  const write = (
    trx: Transaction<Schema>, actor: Actor, action: string, id: string,
    states: { readonly before: Credential | null; readonly after: Credential | null },
  ) =>
    audit(trx, { actor, action: `credential.${action}`, target: { type: "credential", id }, ...states });

  /** @returns The ids of the probes whose handed credentials are others now. */
  const handOut = async (trx: Transaction<Schema>, tenantId: string, to: Assigned): Promise<readonly string[]> => {
    const probes = await store.touch(trx, tenantId, to);
    for (const { id, name } of probes) {
      if ((await store.countFor(trx, id)) <= CREDENTIALS_MAX) continue;
      throw new ApiError("CONFLICT", `the probe ${name} would get more than ${CREDENTIALS_MAX} credentials`, {
        details: { probe_id: id, limit: CREDENTIALS_MAX },
      });
    }
    return probes.map(({ id }) => id);
  };
  const mustBeThere = async (trx: Transaction<Schema>, tenantId: string, to: Assigned) => {
    const [unknown] = await store.unknown(trx, tenantId, to);
    if (unknown !== undefined) throw notFound(to.site_ids.includes(unknown) ? "site" : "probe");
  };
  const publishing = <T>({ result, probes }: { readonly result: T; readonly probes: readonly string[] }): T => {
    if (probes.length > 0) void deps.onHanded(probes);
    return result;
  };

  return {
    list: (tenantId, page) => pageById(page, { read: (rows) => store.list(tenantId, rows), count: () => store.count(tenantId), show }),

    async read(tenantId, credentialId) {
      const row = await store.byId(tenantId, credentialId);
      if (!row) throw notFound("credential");
      return show(row);
    },

    async create(actor, credential) {
      const { settings, secret } = checkParts(credential.type, credential);
      const { tenantId } = actor;
      const id = createId();
      const assigned = distinct(credential);
      return publishing(await store.transaction(async (trx) => {
        await mustBeThere(trx, tenantId, assigned);
        const row = {
          id, tenant_id: tenantId, name: credential.name, type: credential.type, settings: JSON.stringify(settings),
          networks: JSON.stringify(plainNetworks(credential.networks)),
          secret_sealed: sealing.seal(JSON.stringify(secret), ownerOfCredential(id)), created_at: now(), updated_at: now(),
        };
        await store.create(trx, row).catch((error: unknown) => { throw isDuplicate(error) ? nameTaken(credential.name) : error; });
        await store.assign(trx, { id, tenantId }, assigned);
        const result = show({ ...row, assigned });
        await write(trx, actor, "create", id, { before: null, after: result });
        return { result, probes: await handOut(trx, tenantId, assigned) };
      }));
    },

    async update(actor, credentialId, change) {
      const { tenantId } = actor;
      return publishing(await store.transaction(async (trx) => {
        const before = await store.hold(trx, tenantId, credentialId);
        if (!before) throw notFound("credential");
        const parts = checkParts(before.type as CredentialType, {
          settings: change.settings ?? JSON.parse(before.settings), secret: change.secret ?? secretOf(before),
        });
        const assigned = distinct({
          site_ids: change.site_ids ?? before.assigned.site_ids, probe_ids: change.probe_ids ?? before.assigned.probe_ids,
        });
        await mustBeThere(trx, tenantId, {
          site_ids: assigned.site_ids.filter((id) => !before.assigned.site_ids.includes(id)),
          probe_ids: assigned.probe_ids.filter((id) => !before.assigned.probe_ids.includes(id)),
        });
        const row = {
          name: change.name ?? before.name, settings: JSON.stringify(parts.settings),
          networks: change.networks ? JSON.stringify(plainNetworks(change.networks)) : before.networks,
          secret_sealed: change.secret ? sealing.seal(JSON.stringify(parts.secret), ownerOfCredential(credentialId)) : before.secret_sealed,
          updated_at: now(),
        };
        await store.update(trx, credentialId, row).catch((error: unknown) => { throw isDuplicate(error) ? nameTaken(row.name) : error; });
        await store.assign(trx, { id: credentialId, tenantId }, assigned);
        const result = show({ ...before, ...row, assigned });
        const secretChanged = change.secret === undefined ? {} : { secret_changed: true };
        await write(trx, actor, "update", credentialId, { before: show(before), after: { ...result, ...secretChanged } });
        // Those that lose it, too.
        const all = {
          site_ids: [...assigned.site_ids, ...before.assigned.site_ids], probe_ids: [...assigned.probe_ids, ...before.assigned.probe_ids],
        };
        return { result, probes: await handOut(trx, tenantId, all) };
      }));
    },

    async remove(actor, credentialId) {
      publishing(await store.transaction(async (trx) => {
        const before = await store.hold(trx, actor.tenantId, credentialId);
        if (!before) throw notFound("credential");
        await store.remove(trx, credentialId);
        await write(trx, actor, "delete", credentialId, { before: show(before), after: null });
        return { result: undefined, probes: await handOut(trx, actor.tenantId, before.assigned) };
      }));
    },

    reveal: (actor, credentialId) => store.transaction(async (trx) => {
      const row = await store.hold(trx, actor.tenantId, credentialId);
      if (!row) throw notFound("credential");
      const secret = secretOf(row);
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
          settings: JSON.parse(row.settings) as unknown, secret: secretOf(row),
        }));
        const sealed = await sealForProbe(HandedCredentials.parse({ probe_id: probeId, credentials }), await store.keysOf(probeId));
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

function distinct({ site_ids: sites, probe_ids: probes }: Assigned): Assigned {
  return { site_ids: [...new Set(sites)].toSorted(), probe_ids: [...new Set(probes)].toSorted() };
}

function nameTaken(name: string): ApiError {
  return new ApiError("CONFLICT", `the credential name ${name} is taken`);
}
