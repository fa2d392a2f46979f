import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import {
  type ConfigDiff, type ConfigDiffReveal, type ConfigVersion, type ConfigVersionContent, type ConfigVersionUpload, CONFIGURATION_MAX,
  type EventData, type List,
} from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { lockTenant } from "../../db/lock-tenant.ts";
import type { Appended, EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError, notFound } from "../../gateway/errors.ts";
import { type IdPage, pageById } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import { ownerOfConfiguration } from "../../sealing/sealed-columns.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import { createDiffs } from "./diffs.ts";
import type { ConfigVersionsStore, DeviceRow, ListedVersion, VersionRow } from "./store.ts";
import type { TextWorker } from "./text-worker.ts";

/** Every method throws ApiError NOT_FOUND for a device or version that the tenant does not have. */
export interface ConfigVersionsService {
  /**
   * Stores a configuration, unless it equals the newest version. A changed one is published as `config_changed`.
   * @returns The newest version, and whether it is the one that was given.
   */
  upload(actor: Actor, deviceId: string, upload: ConfigVersionUpload): Promise<{
    readonly version: ConfigVersion; readonly isNew: boolean;
  }>;
  /** Newest first. */
  list(tenantId: string, deviceId: string, page: IdPage): Promise<List<ConfigVersion>>;
  /** With its secrets hidden. */
  read(tenantId: string, deviceId: string, versionId: string): Promise<ConfigVersionContent>;
  /** With its secrets, once that is in the audit log. */
  reveal(actor: Actor, deviceId: string, versionId: string): Promise<ConfigVersionContent>;
  /** With secrets hidden; a secret that changed is a line that changed. @throws ApiError BAD_REQUEST without a version before. */
  diff(tenantId: string, deviceId: string, versions: ConfigDiffReveal): Promise<ConfigDiff>;
  /** With secrets, once that is in the audit log. */
  revealDiff(actor: Actor, deviceId: string, versions: ConfigDiffReveal): Promise<ConfigDiff>;
  remove(actor: Actor, deviceId: string, versionId: string): Promise<void>;
}

const compress = promisify(gzip);
const expand = promisify(gunzip);
/** Four bytes for a character at most: what was compressed here is never more. */
const MAX_BYTES = CONFIGURATION_MAX * 4;
/** How often an upload begins anew because another one of the same device came in between. */
const TRIES = 3;

/**
 * Texts are stored compressed and sealed.
 * @param options.keepVersions Versions that are kept of each device; an upload deletes older ones.
 */
export function createConfigVersionsService(deps: {
  readonly store: ConfigVersionsStore;
  readonly sealing: Sealing;
  readonly worker: Pick<TextWorker, "run">;
  readonly log: Pick<EventLog, "append">;
  readonly published: (tenantId: string, fromSeq: number) => void;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}, options: { readonly keepVersions: number }): ConfigVersionsService {
  const { store, sealing, worker, audit, clock } = deps;
  const diffs = createDiffs(worker);

  const textOf = async (row: VersionRow): Promise<string> => {
    const packed = Buffer.from(sealing.open(row.content_sealed, ownerOfConfiguration(row.id)), "base64");
    return (await expand(packed, { maxOutputLength: MAX_BYTES })).toString("utf8");
  };
  const sealText = async (id: string, text: string) => sealing.seal((await compress(text)).toString("base64"), ownerOfConfiguration(id));
  const versionOf = async (tenantId: string, deviceId: string, versionId: string) => {
    const row = await store.byId(tenantId, deviceId, versionId);
    if (!row) throw notFound("version");
    return row;
  };
  /** Its configurations outlive a device. */
  const mustBeKnown = async (tenantId: string, deviceId: string) => {
    if ((await store.count(tenantId, deviceId)) === 0 && !(await store.device(tenantId, deviceId))) throw notFound("device");
  };
  const target = (id: string) => ({ type: "config_version", id });

  /** @returns Null when another upload of this device came in between. */
  const add = async (actor: Actor, device: DeviceRow, upload: ConfigVersionUpload): Promise<{
    readonly version: ConfigVersion; readonly isNew: boolean;
  } | null> => {
    const { tenantId } = actor;
    const latest = await store.latest(tenantId, device.id);
    const change = await worker.run(tenantId, { kind: "change", before: latest && (await textOf(latest)), text: upload.content });
    if (latest && change.isSame) return { version: show(latest), isNew: false };
    const { content } = change;
    const [id, at] = [createId(), toInstant(clock.now())];
    const row: VersionRow = {
      id, tenant_id: tenantId, device_id: device.id, version: (latest?.version ?? 0) + 1, content_sealed: await sealText(id, content),
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
      await audit(trx, { actor, action: "config_version.create", target: target(id), before: null, after: show(row) });
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
    return done && { version: show(row), isNew: true };
  };

  const diffOf = async (tenantId: string, deviceId: string, { from, to }: ConfigDiffReveal, masked: boolean): Promise<ConfigDiff> => {
    await mustBeKnown(tenantId, deviceId);
    const now = to === undefined ? await store.latest(tenantId, deviceId) : await store.byNumber(tenantId, deviceId, to);
    if (!now) throw notFound("version");
    const number = from ?? (await store.before(tenantId, deviceId, now.version));
    if (number === null) throw badRequest([{ path: ["from"], message: `there is no version before ${now.version}` }]);
    const old = await store.byNumber(tenantId, deviceId, number);
    if (!old) throw notFound("version");
    const name = ({ version, captured_at: at }: VersionRow) => `version ${version}\t${at}`;
    const { added, removed, diff } = await diffs.of({ tenantId, oldId: old.id, newId: now.id, masked }, async () => ({
      kind: "diff", from: await textOf(old), to: await textOf(now), names: { from: name(old), to: name(now) }, masked,
    }));
    return { device_id: deviceId, from: old.version, to: now.version, lines_added: added, lines_removed: removed, diff };
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

    async list(tenantId, deviceId, page) {
      await mustBeKnown(tenantId, deviceId);
      return pageById(page, { read: (rows) => store.list(tenantId, deviceId, rows), count: () => store.count(tenantId, deviceId), show });
    },

    async read(tenantId, deviceId, versionId) {
      const row = await versionOf(tenantId, deviceId, versionId);
      return { ...show(row), content: await worker.run(tenantId, { kind: "mask", text: await textOf(row) }) };
    },

    async reveal(actor, deviceId, versionId) {
      const row = await versionOf(actor.tenantId, deviceId, versionId);
      const content = await textOf(row);
      const { version } = row;
      await store.transaction((trx) => audit(trx, {
        actor, action: "config_version.reveal", target: target(versionId), before: null, after: { device_id: deviceId, version },
      }));
      return { ...show(row), content };
    },

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

    async remove(actor, deviceId, versionId) {
      const row = await versionOf(actor.tenantId, deviceId, versionId);
      await store.transaction(async (trx) => {
        await store.remove(trx, versionId);
        await audit(trx, { actor, action: "config_version.delete", target: target(versionId), before: show(row), after: null });
      });
    },
  };
}

function show(row: ListedVersion): ConfigVersion {
  const { id, device_id, version, size_bytes, lines, lines_added, lines_removed, changed_by, comment, captured_at, created_at } = row;
  return { id, device_id, version, size_bytes, lines, lines_added, lines_removed, changed_by, comment, captured_at, created_at };
}
