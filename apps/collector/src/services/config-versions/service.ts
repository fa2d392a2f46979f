import type { ConfigVersion, ConfigVersionContent, List } from "@lanthorn/contract";
import type { Actor } from "../../gateway/environment.ts";
import { notFound } from "../../gateway/errors.ts";
import { type IdPage, pageById } from "../../gateway/page.ts";
import { type ConfigComparisons, configComparisons, type ConfigComparisonsDependencies, mustBeKnown } from "./comparisons.ts";
import { targetOf, toConfigVersion } from "./records.ts";
import { openText } from "./sealed-text.ts";
import { type ConfigUploads, configUploads, type ConfigUploadsDependencies } from "./uploads.ts";

/** Every method throws ApiError NOT_FOUND for a device or version that the tenant does not have. */
export interface ConfigVersionsService extends ConfigUploads, ConfigComparisons {
  /** Newest first. */
  list(tenantId: string, deviceId: string, page: IdPage): Promise<List<ConfigVersion>>;
  /** With its secrets hidden. */
  read(tenantId: string, deviceId: string, versionId: string): Promise<ConfigVersionContent>;
  /** With its secrets, once that is in the audit log. */
  reveal(actor: Actor, deviceId: string, versionId: string): Promise<ConfigVersionContent>;
  remove(actor: Actor, deviceId: string, versionId: string): Promise<void>;
}

/**
 * Texts are stored compressed and sealed.
 * @param options.keepVersions Versions that are kept of each device; an upload deletes older ones.
 */
export function createConfigVersionsService(
  deps: ConfigUploadsDependencies & ConfigComparisonsDependencies, options: { readonly keepVersions: number },
): ConfigVersionsService {
  const { store, sealing, worker, audit } = deps;
  const versionOf = async (tenantId: string, deviceId: string, versionId: string) => {
    const row = await store.byId(tenantId, deviceId, versionId);
    if (!row) throw notFound("version");
    return row;
  };

  return {
    ...configUploads(deps, options), ...configComparisons(deps),

    async list(tenantId, deviceId, page) {
      await mustBeKnown(store, tenantId, deviceId);
      return pageById(page, { read: (rows) => store.list(tenantId, deviceId, rows), count: () => store.count(tenantId, deviceId), show: toConfigVersion });
    },

    async read(tenantId, deviceId, versionId) {
      const row = await versionOf(tenantId, deviceId, versionId);
      return { ...toConfigVersion(row), content: await worker.run(tenantId, { kind: "mask", text: await openText(sealing, row) }) };
    },

    async reveal(actor, deviceId, versionId) {
      const row = await versionOf(actor.tenantId, deviceId, versionId);
      const content = await openText(sealing, row);
      const { version } = row;
      await store.transaction((trx) => audit(trx, {
        actor, action: "config_version.reveal", target: targetOf(versionId), before: null, after: { device_id: deviceId, version },
      }));
      return { ...toConfigVersion(row), content };
    },

    async remove(actor, deviceId, versionId) {
      const row = await versionOf(actor.tenantId, deviceId, versionId);
      await store.transaction(async (trx) => {
        await store.remove(trx, versionId);
        await audit(trx, { actor, action: "config_version.delete", target: targetOf(versionId), before: toConfigVersion(row), after: null });
      });
    },
  };
}
