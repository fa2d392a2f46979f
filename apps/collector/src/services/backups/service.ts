import { rmSync } from "node:fs";
import type { Backup, BackupSettings, BackupSettingsUpdate, BackupsQuery, BackupVerify, EventData, List } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import { parseIdentities } from "../../backups/format/age-keys.ts";
import { CollectorError } from "../../errors.ts";
import type { EventLog } from "../../events/log.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor, Identity } from "../../gateway/environment.ts";
import { ApiError, forbidden, notFound } from "../../gateway/errors.ts";
import { pageById } from "../../gateway/page.ts";
import { badRequest } from "../../gateway/route.ts";
import type { BackupMaker } from "./maker.ts";
import { toBackup } from "./records.ts";
import type { Settings } from "./settings.ts";
import type { BackupRow, BackupsStore } from "./store.ts";
import type { Maintenance } from "./maintenance.ts";

const KEY_ADVICE = "create a key pair with lanthorn-collector backups key, then set the public key on the collector's machine: "
  + "backups.recipients in the configuration, or lanthorn-collector backups recipients";

/**
 * Backups as the operator's own tenant sees them. A backup holds every tenant's rows: to all others there is none, and
 * none can be made.
 */
export interface BackupsService {
  /** @throws ApiError FORBIDDEN to other tenants; CONFLICT without a key to make it for, and while one runs. */
  start(actor: Actor): Promise<Backup>;
  /** Newest first; empty to other tenants. */
  list(tenantId: string, query: BackupsQuery): Promise<List<Backup>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, id: string): Promise<Backup>;
  /**
   * A backup's file, for an administrator who has just given the password again. It is in the audit log, and raises an alert.
   * @throws ApiError FORBIDDEN to API keys, other roles, and tokens that were not confirmed, with what is required; NOT_FOUND, also for one
   * that is not whole or whose file is not here.
   */
  open(identity: Identity, actor: Actor, id: string): Promise<{
    readonly path: string; readonly name: string; readonly sizeBytes: number; readonly sha256: string;
  }>;
  /**
   * Begins to look at a file.
   * @throws ApiError NOT_FOUND; BAD_REQUEST for what is no key; CONFLICT without a file, and while it is looked at.
   */
  verify(actor: Actor, id: string, wish: BackupVerify): Promise<Backup>;
  /** With its file. @throws ApiError NOT_FOUND; CONFLICT while it is made. */
  remove(actor: Actor, id: string): Promise<void>;
  /** @throws ApiError FORBIDDEN to other tenants. */
  settings(tenantId: string): Promise<BackupSettings>;
  /** @throws ApiError FORBIDDEN to other tenants; as `Settings.change`. */
  changeSettings(actor: Actor, changes: BackupSettingsUpdate): Promise<BackupSettings>;
}

interface Dependencies {
  readonly store: BackupsStore; readonly maker: BackupMaker; readonly maintenance: Pick<Maintenance, "operatorTenant" | "settings">;
  readonly audit: Audit; readonly log: Pick<EventLog, "append">; readonly published: (tenantId: string, fromSeq: number) => void;
  readonly clock: Pick<Clock, "now">; readonly settings: Settings; readonly isConfirmed: (identity: Identity) => Promise<boolean>;
}

/** @param deps.isConfirmed Whether the bearer has given the password again within five minutes; a download needs it. */
export function createBackupsService(deps: Dependencies): BackupsService {
  return { ...register(deps), ...files(deps), ...schedule(deps) };
}

/** Backups as a list: made, shown and removed. */
function register(deps: Dependencies): Pick<BackupsService, "start" | "list" | "read" | "remove"> {
  const { store, maker, maintenance, audit, settings } = deps;
  const { show, find, requireOperator } = access(deps);
  return {
    async start(actor) {
      await requireOperator(actor.tenantId);
      const { recipients } = await settings.current();
      if (recipients.length === 0) {
        throw new ApiError("CONFLICT", `no backup key is set: ${KEY_ADVICE}`, { details: { reason: "no-backup-key", action: KEY_ADVICE } });
      }
      const row = maker.draft({ tenantId: actor.tenantId, trigger: "manual", requestedBy: actor.name, recipients });
      const isAdded = await store.add(
        row, { also: (trx) => audit(trx, entry(actor, "backup.start", row, { before: null, after: show(row) })) },
      );
      if (!isAdded) {
        const [running] = await store.running();
        throw new ApiError("CONFLICT", "a backup is already running", { details: { backup_id: running?.id ?? null } });
      }
      void maker.make(row);
      return show(row);
    },

    async list(tenantId, { status, ...page }) {
      const isOperator = tenantId === (await maintenance.operatorTenant());
      return pageById(page, {
        read: async (rows) => (isOperator ? store.list(tenantId, status, rows) : []),
        count: async () => (isOperator ? store.count(tenantId, status) : 0), show,
      });
    },

    read: async (tenantId, id) => show(await find(tenantId, id)),

    async remove(actor, id) {
      const row = await find(actor.tenantId, id);
      await store.transaction(async (trx) => {
        if (!(await store.remove(trx, id))) throw new ApiError("CONFLICT", "the backup is still running");
        await audit(trx, entry(actor, "backup.delete", row, { before: show(row), after: null }));
      });
      rmSync(maker.fileOf(row), { force: true });
    },
  };
}

/** The files of backups: handed out and verified. */
function files(deps: Dependencies): Pick<BackupsService, "open" | "verify"> {
  const { store, maker, audit } = deps;
  const { show, findFile } = access(deps);
  return {
    async open(identity, actor, id) {
      if (identity.key !== null) throw forbidden("an API key cannot download a backup: log in as a user", "signed-in");
      if (identity.role !== "admin") throw forbidden("only an administrator can download a backup", "admin");
      const row = await findFile(identity.tenantId, id, "NOT_FOUND");
      if (!(await deps.isConfirmed(identity))) {
        throw new ApiError("FORBIDDEN", "confirm your password first, with POST /api/v1/auth/confirm", {
          details: { required: "password", action: "POST /api/v1/auth/confirm" },
        });
      }
      const at = toInstant(deps.clock.now());
      const data: EventData<"backup_downloaded"> = { backup_id: id, downloaded_by: identity.username, address: actor.address };
      const { fromSeq } = await store.transaction(async (trx) => {
        await audit(trx, entry(actor, "backup.download", row, { before: null, after: null }));
        return deps.log.append(trx, identity.tenantId, [{
          type: "backup_downloaded", data, siteId: null, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at,
          receivedAt: at,
        }]);
      });
      deps.published(identity.tenantId, fromSeq);
      return { path: maker.fileOf(row), name: row.file_name, sizeBytes: row.size_bytes ?? 0, sha256: row.sha256 ?? "" };
    },

    async verify(actor, id, { secret_key: key }) {
      if (key !== undefined) checkKey(key);
      const row = await findFile(actor.tenantId, id, "CONFLICT");
      const columns = {
        verify_status: "running", verify_method: key === undefined ? "checksum" : "restore", verify_error: null,
        verified_at: toInstant(deps.clock.now()),
      };
      const begun: BackupRow = { ...row, ...columns };
      await store.transaction(async (trx) => {
        if (!(await store.beginVerification(trx, id, columns))) throw new ApiError("CONFLICT", "a verification of the backup is already running");
        await audit(trx, entry(actor, "backup.verify", row, { before: show(row), after: show(begun) }));
      });
      void maker.verify(begun, key);
      return show(begun);
    },
  };
}

/** When backups are made, and for whom. */
function schedule(deps: Dependencies): Pick<BackupsService, "settings" | "changeSettings"> {
  const { maintenance, settings } = deps;
  const { requireOperator } = access(deps);
  return {
    async settings(tenantId) {
      await requireOperator(tenantId);
      return maintenance.settings();
    },

    async changeSettings(actor, changes) {
      await requireOperator(actor.tenantId);
      await settings.change(actor, changes);
      return maintenance.settings();
    },
  };
}

/** What of the backups a tenant may see. */
function access({ store, maker, maintenance }: Dependencies) {
  const show = (row: BackupRow) => toBackup(row, maker.isAvailable(row));
  const requireOperator = async (tenantId: string) => {
    if (tenantId !== (await maintenance.operatorTenant())) {
      throw forbidden("only the operator's tenant has backups: they hold every tenant's data", "operator tenant");
    }
  };
  const find = async (tenantId: string, id: string) => {
    const row = tenantId === (await maintenance.operatorTenant()) ? await store.byId(tenantId, id) : null;
    if (!row) throw notFound("backup");
    return row;
  };
  const findFile = async (tenantId: string, id: string, code: "NOT_FOUND" | "CONFLICT") => {
    const row = await find(tenantId, id);
    if (row.status !== "completed") throw new ApiError(code, `the backup is ${row.status}: it has no file`);
    if (!maker.isAvailable(row)) throw new ApiError(code, "the backup's file is no longer on this machine");
    return row;
  };
  return { show, requireOperator, find, findFile };
}

function entry(actor: Actor, action: string, row: BackupRow, states: { readonly before: Backup | null; readonly after: Backup | null }) {
  return { actor, action, target: { type: "backup", id: row.id }, ...states };
}

function checkKey(key: string): void {
  try {
    parseIdentities(key);
  } catch (error) {
    if (error instanceof CollectorError) throw badRequest([{ path: ["secret_key"], message: "AGE-SECRET-KEY-1… was expected" }]);
    throw error;
  }
}
