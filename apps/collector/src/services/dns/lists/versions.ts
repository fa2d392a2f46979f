import type { DnsList, DnsListVersion, List } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound } from "../../../gateway/errors.ts";
import { pageOfAll } from "../../../gateway/page.ts";
import { createListChanges } from "./changes.ts";
import { toVersion } from "./records.ts";
import type { ListsDependencies } from "./service.ts";

/** Versions of lists. All throw ApiError NOT_FOUND for what the tenant does not have. */
export interface VersionsService {
  versions(tenantId: string, id: string): Promise<List<DnsListVersion>>;
  /** Makes a version that is kept the one that counts. @param version Null: the one that was active before. @throws ApiError CONFLICT where there is none. */
  activate(actor: Actor, id: string, version: number | null): Promise<DnsList>;
}

/** @param deps As of the lists. */
export function createVersionsService(deps: Pick<ListsDependencies, "store" | "audit" | "clock" | "onChanged">): VersionsService {
  const { store, clock } = deps;
  const { find, change } = createListChanges(deps);
  return {
    async versions(tenantId, id) {
      const row = await find(tenantId, id);
      return pageOfAll((await store.versions(null, id)).map((version) => toVersion(version, row)), { page: 1, per_page: 100 }, ({ version }) => String(version));
    },

    async activate(actor, id, wanted) {
      const shown = await change(actor, id, wanted === null ? "dns_list.rollback" : "dns_list.activate", async (trx, row) => {
        const versions = await store.versions(trx, id);
        const before = versions.find(({ version, activated_at: at }) => at !== null && version < (row.active_version ?? 0));
        const found = wanted === null ? before : versions.find(({ version }) => version === wanted);
        if (!found) throw wanted === null ? new ApiError("CONFLICT", "there is no version before that was active") : notFound("version");
        await store.setVersion(trx, id, found.version, { activated_at: toInstant(clock.now()), is_held: 0 });
        return { active_version: found.version };
      });
      deps.onChanged();
      return shown;
    },
  };
}
