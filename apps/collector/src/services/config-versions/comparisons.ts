import type { ConfigDiff, ConfigDiffReveal } from "@lanthorn/contract";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import { createDiffs } from "./diffs.ts";
import { openText } from "./sealed-text.ts";
import type { ConfigVersionsStore, VersionRow } from "./store.ts";
import type { TextWorker } from "./text-worker.ts";

/** Comparing two versions of a device. */
export interface ConfigComparisons {
  /** With secrets hidden; a secret that changed is a line that changed. @throws ApiError BAD_REQUEST without a version before. */
  diff(tenantId: string, deviceId: string, versions: ConfigDiffReveal): Promise<ConfigDiff>;
  /** With secrets, once that is in the audit log. */
  revealDiff(actor: Actor, deviceId: string, versions: ConfigDiffReveal): Promise<ConfigDiff>;
}

/** What comparing versions needs. */
export interface ConfigComparisonsDependencies {
  readonly store: ConfigVersionsStore;
  readonly sealing: Sealing;
  readonly worker: Pick<TextWorker, "run">;
  readonly audit: Audit;
}

/** Compares versions, with secrets hidden or shown. */
export function configComparisons({ store, sealing, worker, audit }: ConfigComparisonsDependencies): ConfigComparisons {
  const diffs = createDiffs(worker);

  const diffOf = async (tenantId: string, deviceId: string, { from, to }: ConfigDiffReveal, masked: boolean): Promise<ConfigDiff> => {
    await mustBeKnown(store, tenantId, deviceId);
    const now = to === undefined ? await store.latest(tenantId, deviceId) : await store.byNumber(tenantId, deviceId, to);
    if (!now) throw notFound("version");
    const number = from ?? (await store.before(tenantId, deviceId, now.version));
    if (number === null) throw badRequest([{ path: ["from"], message: `there is no version before ${now.version}` }]);
    const old = await store.byNumber(tenantId, deviceId, number);
    if (!old) throw notFound("version");
    const name = ({ version, captured_at: at }: VersionRow) => `version ${version}\t${at}`;
    const { added, removed, diff } = await diffs.of({ tenantId, oldId: old.id, newId: now.id, masked }, async () => ({
      kind: "diff", from: await openText(sealing, old), to: await openText(sealing, now), names: { from: name(old), to: name(now) }, masked,
    }));
    return { device_id: deviceId, from: old.version, to: now.version, lines_added: added, lines_removed: removed, diff };
  };

  return {
    diff: (tenantId, deviceId, versions) => diffOf(tenantId, deviceId, versions, true),

    async revealDiff(actor, deviceId, versions) {
      const diff = await diffOf(actor.tenantId, deviceId, versions, false);
      const { from, to } = diff;
      await store.transaction((trx) => audit(trx, {
        actor, action: "config_version.reveal", target: { type: "device", id: deviceId }, before: null,
        after: { device_id: deviceId, from, to },
      }));
      return diff;
    },
  };
}

/** Its configurations outlive a device. */
export async function mustBeKnown(store: ConfigVersionsStore, tenantId: string, deviceId: string): Promise<void> {
  if ((await store.count(tenantId, deviceId)) === 0 && !(await store.device(tenantId, deviceId))) throw notFound("device");
}
