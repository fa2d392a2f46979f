import type { ConfigVersion, ConfigVersionUpload, EventData } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { lockTenant } from "../../db/locks/lock-tenant.ts";
import type { Appended, EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import { targetOf, toConfigVersion } from "./records.ts";
import { openText, sealText } from "./sealed-text.ts";
import type { ConfigVersionsStore, DeviceRow, VersionRow } from "./store.ts";
import type { TextWorker } from "./text-worker.ts";

/** Uploading configurations. */
export interface ConfigUploads {
  /**
   * Stores a configuration, unless it equals the newest version. A changed one is published as `config_changed`.
   * @returns The newest version, and whether it is the one that was given.
   */
  upload(actor: Actor, deviceId: string, upload: ConfigVersionUpload): Promise<Uploaded>;
}

interface Uploaded {
  readonly version: ConfigVersion;
  readonly isNew: boolean;
}

/** What storing a version needs. */
export interface ConfigUploadsDependencies {
  readonly store: ConfigVersionsStore;
  readonly sealing: Sealing;
  readonly worker: Pick<TextWorker, "run">;
  readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}

/** How often an upload begins anew because another one of the same device came in between. */
const TRIES = 3;

/** Stores configurations that differ from the newest version. */
export function configUploads(deps: ConfigUploadsDependencies, options: { readonly keepVersions: number }): ConfigUploads {
  const { store, sealing, worker, audit, clock } = deps;

  /** @returns Null when another upload of this device came in between. */
  const add = async (actor: Actor, device: DeviceRow, upload: ConfigVersionUpload): Promise<Uploaded | null> => {
    const { tenantId } = actor;
    const latest = await store.latest(tenantId, device.id);
    const change = await worker.run(tenantId, { kind: "change", before: latest && (await openText(sealing, latest)), text: upload.content });
    if (latest && change.isSame) return { version: toConfigVersion(latest), isNew: false };
    const { content } = change;
    const [id, at] = [createId(), toInstant(clock.now())];
    const row: VersionRow = {
      id, tenant_id: tenantId, device_id: device.id, version: (latest?.version ?? 0) + 1, content_sealed: await sealText(sealing, id, content),
      size_bytes: Buffer.byteLength(content), lines: change.lines, lines_added: change.added, lines_removed: change.removed,
      changed_by: upload.changed_by, comment: upload.comment,
      captured_at: upload.captured_at === undefined ? at : new Date(upload.captured_at).toISOString(),
      created_at: at,
    };
    const done = await store.transaction(async (trx): Promise<{ readonly appended: Appended | null } | null> => {
      await lockTenant(trx, tenantId);
      if ((await store.latestNumber(trx, device.id)) !== row.version - 1) return null;
      await store.create(trx, row);
      await store.prune(trx, device.id, options.keepVersions);
      await audit(trx, { actor, action: "config_version.create", target: targetOf(id), before: null, after: toConfigVersion(row) });
      if (!latest) return { appended: null };
      const data: EventData<"config_changed"> = {
        ip: device.ip, hostname: device.hostname, previous_version: latest.version, version: row.version, lines_added: row.lines_added,
        lines_removed: row.lines_removed, changed_by: row.changed_by,
      };
      return { appended: await deps.log.append(trx, tenantId, [{
        type: "config_changed", data, siteId: device.site_id, probeId: null, deviceId: device.id, queueId: null, probeSeq: null,
        occurredAt: at, receivedAt: at,
      }]) };
    });
    if (done?.appended) deps.published(tenantId, done.appended.fromSeq);
    return done && { version: toConfigVersion(row), isNew: true };
  };

  return {
    async upload(actor, deviceId, upload) {
      const device = await store.device(actor.tenantId, deviceId);
      if (!device) throw notFound("device");
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const kept = await add(actor, device, upload);
        if (kept) return kept;
      }
      throw new ApiError("CONFLICT", "other configurations of this device are being uploaded; send it again");
    },
  };
}
