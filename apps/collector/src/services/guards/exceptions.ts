import { type GuardExceptionCreate, type GuardExceptionRecord, type List, MAX_GUARD_EXCEPTIONS } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { plainNetworks } from "../../db/keys/plain-networks.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../gateway/errors.ts";
import { type IdPage, pageOfAll } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import { toException } from "./records.ts";
import type { GuardsDependencies } from "./service.ts";
import type { ExceptionRow } from "./store.ts";

/** Exceptions of a site: those that have not expired. */
export interface GuardExceptions {
  /** The oldest first. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, siteId: string, page: IdPage): Promise<List<GuardExceptionRecord>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, siteId: string, exceptionId: string): Promise<GuardExceptionRecord>;
  /** It is sent to the site's probes. @throws ApiError NOT_FOUND; BAD_REQUEST for an end that is past; CONFLICT where there are too many. */
  add(actor: Actor, siteId: string, exception: GuardExceptionCreate): Promise<GuardExceptionRecord>;
  /** @throws ApiError NOT_FOUND. */
  remove(actor: Actor, siteId: string, exceptionId: string): Promise<void>;
}

/** Author, reason and end are kept with each, and in the audit log after it is gone. */
export function createGuardExceptions({ store, audit, clock, onConfigured }: GuardsDependencies): GuardExceptions {
  const now = () => toInstant(clock.now());
  const checkSite = async (tenantId: string, siteId: string) => {
    await requireSite(store, tenantId, siteId);
  };

  return {
    async list(tenantId, siteId, page) {
      await checkSite(tenantId, siteId);
      return pageOfAll((await store.exceptions(siteId, now())).map(toException), page, ({ id }) => id);
    },

    async read(tenantId, siteId, exceptionId) {
      await checkSite(tenantId, siteId);
      const row = await store.exception(siteId, exceptionId, now());
      if (!row) throw notFound("exception");
      return toException(row);
    },

    async add(actor, siteId, { kind, ip, mac, reason, expires_at: expiresAt }) {
      const at = now();
      if (expiresAt !== undefined && expiresAt <= at) throw badRequest([{ path: ["expires_at"], message: "must be in the future" }]);
      const row: ExceptionRow = {
        id: createId(), tenant_id: actor.tenantId, site_id: siteId, kind: kind ?? null, ip: ip === undefined ? null : (plainNetworks([ip])[0] ?? null),
        mac: mac ?? null, reason, created_by: actor.name, created_at: at, expires_at: expiresAt ?? null,
      };
      await store.transaction(async (trx) => {
        if (!(await store.reviseSite(trx, actor.tenantId, siteId))) throw notFound("site");
        await store.forgetExpired(trx, siteId, at);
        if ((await store.countExceptions(trx, siteId, at)) >= MAX_GUARD_EXCEPTIONS) {
          throw new ApiError("CONFLICT", `the site has ${MAX_GUARD_EXCEPTIONS} exceptions already: delete some, or use a network for many addresses`);
        }
        await store.addException(trx, row);
        await audit(trx, {
          actor, action: "guard_exception.create", target: { type: "guard_exception", id: row.id }, before: null, after: toException(row),
        });
      });
      void onConfigured(siteId);
      return toException(row);
    },

    async remove(actor, siteId, exceptionId) {
      await store.transaction(async (trx) => {
        if (!(await store.reviseSite(trx, actor.tenantId, siteId))) throw notFound("site");
        const row = await store.removeException(trx, siteId, exceptionId);
        if (!row) throw notFound("exception");
        await audit(trx, {
          actor, action: "guard_exception.delete", target: { type: "guard_exception", id: row.id }, before: toException(row), after: null,
        });
      });
      void onConfigured(siteId);
    },
  };
}
