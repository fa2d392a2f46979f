import { type Credential, type CredentialCreate, CREDENTIALS_MAX, type CredentialType, type CredentialUpdate } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import { isDuplicate } from "../../db/constraints.ts";
import { plainNetworks } from "../../db/keys/plain-networks.ts";
import type { Schema } from "../../db/schema.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { ownerOfCredential } from "../../sealing/sealed-columns.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import { checkParts } from "./parts.ts";
import { secretOf, toCredential } from "./records.ts";
import type { Assigned, CredentialRow, VaultStore } from "./store.ts";

/** Changes of credentials, each of which its probes are sent. */
export interface CredentialChanges {
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
}

/** What changing credentials needs. */
export interface CredentialChangesDependencies {
  readonly store: VaultStore;
  readonly sealing: Sealing;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  /** After a change of what probes are handed was committed; nobody waits for it. */
  readonly onHanded: (probeIds: readonly string[]) => Promise<void>;
}

/** Creates, changes and removes credentials. */
export function credentialChanges(deps: CredentialChangesDependencies): CredentialChanges {
  const { store, sealing, audit, clock } = deps;
  const now = () => toInstant(clock.now());
  const show = (row: CredentialRow) => toCredential(sealing, row);
  const write = (
    trx: Transaction<Schema>, actor: Actor, action: string, id: string,
    states: { readonly before: Credential | null; readonly after: Credential | null },
  ) =>
    audit(trx, { actor, action: `credential.${action}`, target: { type: "credential", id }, ...states });
  const publishing = <T>({ result, probes }: { readonly result: T; readonly probes: readonly string[] }): T => {
    if (probes.length > 0) void deps.onHanded(probes);
    return result;
  };

  return {
    async create(actor, credential) {
      const { settings, secret } = checkParts(credential.type, credential);
      const { tenantId } = actor;
      const id = createId();
      const assigned = distinct(credential);
      return publishing(await store.transaction(async (trx) => {
        await mustBeThere(store, trx, tenantId, assigned);
        const row = {
          id, tenant_id: tenantId, name: credential.name, type: credential.type, settings: JSON.stringify(settings),
          networks: JSON.stringify(plainNetworks(credential.networks)),
          secret_sealed: sealing.seal(JSON.stringify(secret), ownerOfCredential(id)), created_at: now(), updated_at: now(),
        };
        await store.create(trx, row).catch((error: unknown) => { throw isDuplicate(error) ? nameTaken(credential.name) : error; });
        await store.assign(trx, { id, tenantId }, assigned);
        const result = show({ ...row, assigned });
        await write(trx, actor, "create", id, { before: null, after: result });
        return { result, probes: await handOut(store, trx, tenantId, assigned) };
      }));
    },

    async update(actor, credentialId, change) {
      const { tenantId } = actor;
      return publishing(await store.transaction(async (trx) => {
        const before = await store.hold(trx, tenantId, credentialId);
        if (!before) throw notFound("credential");
        const parts = checkParts(before.type as CredentialType, {
          settings: change.settings ?? JSON.parse(before.settings), secret: change.secret ?? secretOf(sealing, before),
        });
        const assigned = distinct({
          site_ids: change.site_ids ?? before.assigned.site_ids, probe_ids: change.probe_ids ?? before.assigned.probe_ids,
        });
        await mustBeThere(store, trx, tenantId, {
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
        return { result, probes: await handOut(store, trx, tenantId, all) };
      }));
    },

    async remove(actor, credentialId) {
      publishing(await store.transaction(async (trx) => {
        const before = await store.hold(trx, actor.tenantId, credentialId);
        if (!before) throw notFound("credential");
        await store.remove(trx, credentialId);
        await write(trx, actor, "delete", credentialId, { before: show(before), after: null });
        return { result: undefined, probes: await handOut(store, trx, actor.tenantId, before.assigned) };
      }));
    },
  };
}

/** @returns The ids of the probes whose handed credentials are others now. */
async function handOut(store: VaultStore, trx: Transaction<Schema>, tenantId: string, to: Assigned): Promise<readonly string[]> {
  const probes = await store.touch(trx, tenantId, to);
  for (const { id, name } of probes) {
    if ((await store.countFor(trx, id)) <= CREDENTIALS_MAX) continue;
    throw new ApiError("CONFLICT", `the probe ${name} would get more than ${CREDENTIALS_MAX} credentials`, {
      details: { probe_id: id, limit: CREDENTIALS_MAX },
    });
  }
  return probes.map(({ id }) => id);
}

/** @throws ApiError NOT_FOUND for a site or a probe that the tenant does not have. */
async function mustBeThere(store: VaultStore, trx: Transaction<Schema>, tenantId: string, to: Assigned): Promise<void> {
  const [unknown] = await store.unknown(trx, tenantId, to);
  if (unknown !== undefined) throw notFound(to.site_ids.includes(unknown) ? "site" : "probe");
}

function distinct({ site_ids: sites, probe_ids: probes }: Assigned): Assigned {
  return { site_ids: [...new Set(sites)].toSorted(), probe_ids: [...new Set(probes)].toSorted() };
}

function nameTaken(name: string): ApiError {
  return new ApiError("CONFLICT", `the credential name ${name} is taken`);
}
