import type { KeyObject } from "node:crypto";
import type { EventData, License } from "@lanthorn/contract";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import { lockTenant } from "../../db/locks/lock-tenant.ts";
import type { Schema } from "../../db/schema.ts";
import type { Appended, EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import type { PartState } from "../../gateway/health.ts";
import { badRequest } from "../../gateway/route.ts";
import { createJob, type Job } from "../../jobs/job.ts";
import { CALM_STATE, describeState, licenseOf, stateKey } from "./state.ts";
import type { LicenseRow, LicenseStore } from "./store.ts";
import { verifyLicense } from "./verify.ts";

/** The license of each tenant, verified offline at every read. It is reported on, and enforced nowhere. */
export interface LicenseService {
  read(tenantId: string): Promise<License>;
  /**
   * In place of the one that is there.
   * @throws ApiError CONFLICT where the deployment trusts no issuer; BAD_REQUEST for what is no license, is over, or is another tenant's.
   */
  put(actor: Actor, license: string): Promise<License>;
  /** @throws ApiError NOT_FOUND. */
  remove(actor: Actor): Promise<void>;
  /** Publishes which licenses have another state than when they were last looked at. */
  readonly job: Job<void>;
  /** How the licenses were when they were last looked at. Never degraded: what has ended stops nothing. */
  health(): PartState;
}

interface LicenseDependencies {
  readonly store: LicenseStore;
  readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly logger: Log;
}

const LOOK_EVERY_MS = 600_000;
const TARGET = { type: "license", id: "license" };

/** @param options.issuers Whose signature counts. @param options.warnDays How long before its expiry a license raises an alert. */
export function createLicenseService(
  deps: LicenseDependencies, options: { readonly issuers: readonly KeyObject[]; readonly warnDays: number },
): LicenseService {
  const { store, audit, clock } = deps;
  let summary = "the community license";

  const look = async (tenantId: string, row: LicenseRow | null): Promise<License> => {
    const verified = row && (await verifyLicense(row.license, options.issuers));
    const found = row && verified ? { row, verified } : null;
    return licenseOf(found, await store.usage(tenantId), { now: clock.now(), warnDays: options.warnDays });
  };
  const appendState = (trx: Transaction<Schema>, tenantId: string, license: License): Promise<Appended> => {
    const at = toInstant(clock.now());
    const data: EventData<"license_state"> = describeState(license);
    return deps.log.append(trx, tenantId, [{
      type: "license_state", data, siteId: null, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at,
      receivedAt: at,
    }]);
  };
  /** Writes in the tenant's turn, then lets the stream know of what was appended. */
  const inTurn = async (tenantId: string, work: (trx: Transaction<Schema>) => Promise<Appended | null>) => {
    const appended = await store.transaction(async (trx) => {
      await lockTenant(trx, tenantId);
      return work(trx);
    });
    if (appended) deps.published(tenantId, appended.fromSeq);
  };
  const work = async () => {
    const seen = new Map<string, number>();
    for (const row of await store.list()) {
      const license = await look(row.tenant_id, row);
      const now = stateKey(license);
      seen.set(license.status, (seen.get(license.status) ?? 0) + 1);
      if (now === row.published_state) continue;
      await inTurn(row.tenant_id, async (trx) => ((await store.setPublished(trx, row, now)) ? appendState(trx, row.tenant_id, license) : null));
    }
    summary = seen.size === 0 ? "the community license" : [...seen].map(([status, count]) => `${count} ${status}`).join(", ");
  };
  const job = createJob({ clock, log: deps.logger }, {
    name: "licenses", everyMs: LOOK_EVERY_MS, atStart: true, who: "one replica",
    failure: "licenses could not be checked, trying again in ten minutes", run: work,
  });

  return {
    job,
    read: async (tenantId) => look(tenantId, await store.byTenant(tenantId)),

    async put(actor, text) {
      const { tenantId } = actor;
      await checkUpload(text, { tenantId, issuers: options.issuers, now: clock.now() });
      const row = { tenant_id: tenantId, license: text, published_state: CALM_STATE, uploaded_at: toInstant(clock.now()), uploaded_by: actor.name };
      const [before, license] = [await look(tenantId, await store.byTenant(tenantId)), await look(tenantId, row)];
      await inTurn(tenantId, async (trx) => {
        await store.put(trx, { ...row, published_state: stateKey(license) });
        await audit(trx, {
          actor, action: "license.put", target: TARGET, before: before.uploaded_at === null ? null : before, after: license,
        });
        // Also when it is valid: the alert of the one before is over.
        return appendState(trx, tenantId, license);
      });
      void job.runSoon();
      return license;
    },

    async remove(actor) {
      const { tenantId } = actor;
      const before = await look(tenantId, await store.byTenant(tenantId));
      await inTurn(tenantId, async (trx) => {
        if (!(await store.remove(trx, tenantId))) throw notFound("license");
        await audit(trx, { actor, action: "license.delete", target: TARGET, before, after: null });
        return appendState(trx, tenantId, { ...before, status: "community", licensee: null, expires_at: null, exceeded: [] });
      });
      void job.runSoon();
    },

    health: () => ({ status: "ok", detail: summary }),
  };
}

/** @throws ApiError CONFLICT where the deployment trusts no issuer; BAD_REQUEST for what is no license of this tenant's, or has expired. */
async function checkUpload(
  text: string, at: { readonly tenantId: string; readonly issuers: readonly KeyObject[]; readonly now: number },
): Promise<void> {
  if (at.issuers.length === 0) {
    throw new ApiError("CONFLICT", "this deployment trusts no license issuer: set license.issuer_files");
  }
  const verified = await verifyLicense(text, at.issuers);
  const wrong = (message: string) => badRequest([{ path: ["license"], message }]);
  if (!verified.ok) throw wrong(verified.message);
  const { tenant, exp } = verified.claims;
  if (tenant !== undefined && tenant !== at.tenantId) throw wrong("issued for another tenant");
  if (exp !== undefined && exp * 1000 <= at.now) throw wrong(`expired at ${toInstant(exp * 1000)}`);
}
