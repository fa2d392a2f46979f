import { type DnsAllowance, type DnsAllowanceCreate, type DnsPause, type DnsPauseCreate, type DnsRule, type DnsRuleCreate, type List, MAX_DNS_DECISIONS } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound } from "../../../gateway/errors.ts";
import { type IdPage, pageOfAll } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import { requireName, requireScope, scopeColumns, type ScopeWish, shownScope } from "./scope.ts";
import type { DecisionRow, PoliciesStore } from "./store.ts";

/** Rules, allowances and pauses of one kind. All throw ApiError NOT_FOUND for what the tenant does not have, and what has ended. */
export interface Decisions<Shown, Wish> {
  /** The oldest first. */
  list(tenantId: string, query: IdPage & { readonly action?: string | undefined }): Promise<List<Shown>>;
  read(tenantId: string, id: string): Promise<Shown>;
  /** @throws ApiError BAD_REQUEST for an end that is past, and what is no name; CONFLICT where there are too many. */
  create(actor: Actor, wish: Wish): Promise<Shown>;
  remove(actor: Actor, id: string): Promise<void>;
}

/** What operators decide by hand. */
export interface DecisionsService {
  readonly rules: Decisions<DnsRule, DnsRuleCreate>;
  readonly allowances: Decisions<DnsAllowance, DnsAllowanceCreate>;
  readonly pauses: Decisions<DnsPause, DnsPauseCreate>;
}

/** What decisions need. */
export interface DecisionsDependencies {
  readonly store: PoliciesStore;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
  /** The name that must be allowed for another to resolve; null where none would help, or where it is not known. */
  readonly blockedName: (tenantId: string, wish: DnsAllowanceCreate) => Promise<string | null>;
  /** After what counts has changed. */
  readonly onChanged: () => void;
}

/** How decisions of one kind are shown and made. */
interface DecisionKind<Shown, Wish extends ScopeWish> {
  readonly noun: string;
  readonly kinds: readonly string[];
  readonly show: (row: DecisionRow) => Shown;
  readonly columns: (tenantId: string, wish: Wish, now: number) => Promise<Pick<DecisionRow, "kind" | "name" | "has_subdomains" | "reason" | "expires_at">>;
}

const MINUTE_MS = 60_000;
const ALLOW_MS = 60 * MINUTE_MS;
const PAUSE_MS = 10 * MINUTE_MS;

/** @param deps See `DecisionsDependencies`. */
export function createDecisionsService(deps: DecisionsDependencies): DecisionsService {
  const endOf = (wish: string | undefined, now: number, usualMs: number) => {
    if (wish !== undefined && wish <= toInstant(now)) throw badRequest([{ path: ["expires_at"], message: "must be in the future" }]);
    return wish ?? toInstant(now + usualMs);
  };
  return {
    rules: createDecisions<DnsRule, DnsRuleCreate>(deps, {
      noun: "rule", kinds: ["block", "allow", "protect"], show: (row) => ({ ...shown(row), action: row.kind as DnsRule["action"], name: row.name, has_subdomains: row.has_subdomains === 1 }),
      columns: (_, wish) => Promise.resolve({ kind: wish.action, name: requireName(wish.name, "name"), has_subdomains: wish.has_subdomains ? 1 : 0, reason: wish.reason, expires_at: null }),
    }),
    allowances: createDecisions<DnsAllowance, DnsAllowanceCreate>(deps, {
      noun: "allowance", kinds: ["allowance"], show: (row) => ({ ...shown(row), name: row.name, has_subdomains: row.has_subdomains === 1, expires_at: row.expires_at ?? "" }),
      async columns(tenantId, wish, now) {
        const name = requireName(wish.name, "name");
        const expiresAt = endOf(wish.expires_at, now, ALLOW_MS);
        return { kind: "allowance", name: await deps.blockedName(tenantId, { ...wish, name }) ?? name, has_subdomains: wish.has_subdomains ? 1 : 0, reason: wish.reason, expires_at: expiresAt };
      },
    }),
    pauses: createDecisions<DnsPause, DnsPauseCreate>(deps, {
      noun: "pause", kinds: ["pause"], show: (row) => ({ ...shown(row), expires_at: row.expires_at ?? "" }),
      columns: (_, wish, now) => Promise.resolve({ kind: "pause", name: "", has_subdomains: 0, reason: wish.reason, expires_at: endOf(wish.expires_at, now, PAUSE_MS) }),
    }),
  };
}

function shown(row: DecisionRow) {
  return { id: row.id, ...shownScope(row), reason: row.reason, created_by: row.created_by, created_at: row.created_at };
}

function createDecisions<Shown extends { readonly id: string }, Wish extends ScopeWish>(
  { store, audit, clock, onChanged }: DecisionsDependencies, { noun, kinds, show, columns }: DecisionKind<Shown, Wish>,
): Decisions<Shown, Wish> {
  const target = (id: string) => ({ type: `dns_${noun}`, id });
  const now = () => toInstant(clock.now());
  const rowsOf = async (tenantId: string) => (await store.decisions(null, tenantId, now())).filter(({ kind }) => kinds.includes(kind));
  return {
    async list(tenantId, query) {
      const rows = await rowsOf(tenantId);
      return pageOfAll(rows.filter(({ kind }) => query.action === undefined || kind === query.action).map(show), query, ({ id }) => id);
    },

    async read(tenantId, id) {
      const found = (await rowsOf(tenantId)).find((row) => row.id === id);
      if (!found) throw notFound(noun);
      return show(found);
    },

    async create(actor, wish) {
      const { tenantId } = actor;
      await requireScope(store, tenantId, wish);
      const row: DecisionRow = {
        id: createId(), tenant_id: tenantId, ...scopeColumns(wish), ...await columns(tenantId, wish, clock.now()), created_by: actor.name, created_at: now(),
      };
      await store.locked(tenantId, async (trx) => {
        await store.forgetEnded(trx, tenantId, now());
        if ((await store.decisions(trx, tenantId, now())).length >= MAX_DNS_DECISIONS) {
          throw new ApiError("CONFLICT", `there are ${MAX_DNS_DECISIONS} rules, allowances and pauses already: delete some, or put names into a list`);
        }
        await store.addDecision(trx, row);
        await audit(trx, { actor, action: `dns_${noun}.create`, target: target(row.id), before: null, after: show(row) });
      });
      onChanged();
      return show(row);
    },

    async remove(actor, id) {
      await store.locked(actor.tenantId, async (trx) => {
        const row = (await store.decisions(trx, actor.tenantId, now())).find((one) => one.id === id && kinds.includes(one.kind));
        if (!row) throw notFound(noun);
        await store.removeDecision(trx, id);
        await audit(trx, { actor, action: `dns_${noun}.delete`, target: target(id), before: show(row), after: null });
      });
      onChanged();
    },
  };
}
