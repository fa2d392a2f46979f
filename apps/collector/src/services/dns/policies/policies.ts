import { DnsPolicy, DnsPolicyCreate, type DnsPolicyUpdate, type List, MAX_DNS_POLICIES } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound } from "../../../gateway/errors.ts";
import { type IdPage, pageOfAll } from "../../../gateway/page.ts";
import { requireScope, scopeColumns, shownScope } from "./scope.ts";
import type { PoliciesStore, PolicyRow } from "./store.ts";

/** Policies of a tenant. All throw ApiError NOT_FOUND for what the tenant does not have. */
export interface PoliciesService {
  /** The oldest first. */
  list(tenantId: string, page: IdPage): Promise<List<DnsPolicy>>;
  read(tenantId: string, id: string): Promise<DnsPolicy>;
  /** @throws ApiError CONFLICT where there are too many, and where there is one for the same clients. */
  create(actor: Actor, wish: DnsPolicyCreate): Promise<DnsPolicy>;
  update(actor: Actor, id: string, change: DnsPolicyUpdate): Promise<DnsPolicy>;
  remove(actor: Actor, id: string): Promise<void>;
  /** With a tenant's first list, in its transaction: where there is no policy, one for everyone that only observes. */
  addFirst(trx: Transaction<Schema>, actor: Actor): Promise<void>;
}

const Settings = DnsPolicy.pick({ mode: true, answer: true, sinkhole_ipv4: true, sinkhole_ipv6: true, private_relay: true, browser_dns: true, lists: true });
const targetOf = (id: string) => ({ type: "dns_policy", id });

/** @param deps.listExists Whether a tenant has a list. @param deps.onChanged After what counts has changed. */
export function createPoliciesService({ store, audit, clock, listExists, onChanged }: {
  readonly store: PoliciesStore; readonly audit: Audit; readonly clock: Pick<Clock, "now">;
  readonly listExists: (trx: Transaction<Schema>, tenantId: string, id: string) => Promise<boolean>; readonly onChanged: () => void;
}): PoliciesService {
  const read = async (tenantId: string, id: string): Promise<DnsPolicy> => {
    const found = (await store.policies(null, tenantId)).find((row) => row.id === id);
    if (!found) throw notFound("policy");
    return toPolicy(found);
  };
  const requireLists = async (trx: Transaction<Schema>, tenantId: string, lists: DnsPolicyUpdate["lists"]) => {
    for (const { list_id: id } of lists ?? []) if (id !== undefined && !(await listExists(trx, tenantId, id))) throw notFound("list");
  };
  return {
    list: async (tenantId, page) => pageOfAll((await store.policies(null, tenantId)).map(toPolicy), page, ({ id }) => id),
    read,

    async create(actor, wish) {
      const { tenantId } = actor;
      await requireScope(store, tenantId, wish);
      const row = toRow(actor, wish, toInstant(clock.now()));
      await store.locked(tenantId, async (trx) => {
        await requireLists(trx, tenantId, wish.lists);
        const all = await store.policies(trx, tenantId);
        if (all.length >= MAX_DNS_POLICIES) throw new ApiError("CONFLICT", `there are ${MAX_DNS_POLICIES} policies already: delete one first`);
        const same = all.find((one) => isSameScope(one, row));
        if (same) throw new ApiError("CONFLICT", `the policy "${same.name}" is for the same clients: change it`, { details: { policy_id: same.id } });
        await store.addPolicy(trx, row);
        await audit(trx, { actor, action: "dns_policy.create", target: targetOf(row.id), before: null, after: toPolicy(row) });
      });
      onChanged();
      return toPolicy(row);
    },

    async addFirst(trx, actor) {
      if ((await store.policies(trx, actor.tenantId)).length > 0) return;
      const row = toRow(actor, DnsPolicyCreate.parse({ name: "Everyone", mode: "observe" }), toInstant(clock.now()));
      await store.addPolicy(trx, row);
      await audit(trx, { actor, action: "dns_policy.create", target: targetOf(row.id), before: null, after: toPolicy(row) });
    },

    async update(actor, id, change) {
      await store.locked(actor.tenantId, async (trx) => {
        const row = (await store.policies(trx, actor.tenantId)).find((one) => one.id === id);
        if (!row) throw notFound("policy");
        await requireLists(trx, actor.tenantId, change.lists);
        const { name = row.name, ...settings } = change;
        const next = { name, settings: JSON.stringify(Settings.parse({ ...toPolicy(row), ...settings })) };
        await store.setPolicy(trx, id, next);
        await audit(trx, { actor, action: "dns_policy.update", target: targetOf(id), before: toPolicy(row), after: toPolicy({ ...row, ...next }) });
      });
      onChanged();
      return read(actor.tenantId, id);
    },

    async remove(actor, id) {
      await store.locked(actor.tenantId, async (trx) => {
        const row = (await store.policies(trx, actor.tenantId)).find((one) => one.id === id);
        if (!row) throw notFound("policy");
        await store.removePolicy(trx, id);
        await audit(trx, { actor, action: "dns_policy.delete", target: targetOf(id), before: toPolicy(row), after: null });
      });
      onChanged();
    },
  };
}

/** A policy as the API shows it. */
export function toPolicy(row: PolicyRow): DnsPolicy {
  return { id: row.id, ...shownScope(row), name: row.name, ...Settings.parse(JSON.parse(row.settings)), created_by: row.created_by, created_at: row.created_at };
}

function toRow(actor: Pick<Actor, "tenantId" | "name">, wish: DnsPolicyCreate, at: string): PolicyRow {
  return { id: createId(), tenant_id: actor.tenantId, ...scopeColumns(wish), name: wish.name, settings: JSON.stringify(Settings.parse(wish)), created_by: actor.name, created_at: at };
}

function isSameScope(a: PolicyRow, b: PolicyRow): boolean {
  return a.device_id === b.device_id && a.group_tag === b.group_tag && a.site_id === b.site_id && a.vlan === b.vlan;
}
