import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Alert, AuditRecord, Backup, BackupSettings, listEnvelope } from "@lanthorn/contract";
import { createFakeClock, createId, type FakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, describe, expect, test, vi } from "vitest";
import { generateIdentity } from "../../backups/format/age-keys.ts";
import { doBackupJob } from "../../backups/job.ts";
import type { RunBackupJob } from "../../backups/job.ts";
import { generateSigningKey } from "../../backups/format/signing.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { createAudit } from "../audit/audit.ts";
import { type Backups, createBackups } from "./backups.ts";
import { setRecipients } from "./recipients.ts";

const { recipient, identity } = await generateIdentity();
const signingKey = generateSigningKey();
const DAY_MS = 86_400_000;

let gateway: TestGateway;
let backups: Backups;
let admin: TestTenant;
let directory: string;
let clock: FakeClock;
/** What does the jobs: the product's own work, but in this process. */
let runJob: RunBackupJob;

afterEach(async () => {
  await backups.close();
  await gateway.stop();
});

async function start(changes: { readonly schedule?: string; readonly keep?: number; readonly recipients?: readonly string[] } = {}) {
  clock = createFakeClock();
  runJob = (job) => doBackupJob(job);
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-backups-"));
  directory = join(dataDir, "backups");
  gateway = await startTestGateway({
    clock, alerts: true, dataDir,
    services(parts) {
      backups = createBackups({ ...parts, runJob: (job, signal) => runJob(job, signal) }, {
        recipients: changes.recipients ?? [recipient], directory, dataDir, database: { file: join(dataDir, "lanthorn.db") },
        postgresBin: undefined, secrets: {}, includeKeys: false, signingKey, version: "1", isAlone: true, schedule: changes.schedule, keep: changes.keep, tenant: undefined,
      });
      return backups.routes;
    },
  });
  admin = await gateway.createTenant("admin");
  await backups.job.run();
}

/** A token is over after a day. */
const signIn = async () => {
  admin = await gateway.createUser(admin, "admin");
};
const call = (method: string, path: string, body?: unknown, token = admin.token) =>
  gateway.call(method, `/api/v1/backups${path}`, token, body);
const readOne = async (id: string) => Backup.parse((await call("GET", `/${id}`)).body);
const listAll = async () => listEnvelope(Backup).parse((await call("GET", "")).body).data;
const ended = (id: string) => vi.waitFor(async () => {
  const backup = await readOne(id);
  if (backup.status === "running" || backup.verification?.status === "running") throw new Error("still running");
  return backup;
}, { timeout: 300_000, interval: 10 });
const make = async () => {
  const answer = await call("POST", "");
  expect(answer.status).toBe(202);
  return ended(Backup.parse(answer.body).id);
};
const events = async (type: string) => {
  const rows = await gateway.reads.selectFrom("events").select("data").where("type", "=", type).orderBy("seq").execute();
  return rows.map(({ data }) => JSON.parse(data) as Record<string, unknown>);
};
const alerts = async () => listEnvelope(Alert).parse((await gateway.get("/api/v1/alerts?status=open", admin.token)).body).data;
const download = async (id: string) => {
  await gateway.call("POST", "/api/v1/auth/confirm", admin.token, { password: "password" });
  return fetch(`${gateway.url}/api/v1/backups/${id}/download`, { headers: { authorization: `Bearer ${admin.token}` } });
};

describe("a backup", () => {
  test("is started, made, published, shown, downloaded and deleted", async () => {
    await start();
    const answer = await call("POST", "");
    const begun = Backup.parse(answer.body);
    expect([answer.status, answer.headers.get("location")]).toEqual([202, `/api/v1/backups/${begun.id}`]);
    expect(begun).toMatchObject({ status: "running", trigger: "manual", requested_by: admin.username, available: false, size_bytes: null });
    const made = await ended(begun.id);
    expect(made).toMatchObject({ status: "completed", available: true, recipients: [recipient], database: "sqlite", error: null });
    expect(made.rows).toBeGreaterThan(1);
    expect(await listAll()).toEqual([made]);
    expect(await events("backup_completed")).toEqual([{ backup_id: made.id, size_bytes: made.size_bytes, duration_seconds: 0 }]);

    const file = await download(made.id);
    const bytes = Buffer.from(await file.arrayBuffer());
    expect([file.status, file.headers.get("content-type"), Number(file.headers.get("content-length"))]).toEqual([
      200, "application/octet-stream", made.size_bytes,
    ]);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(made.sha256);
    expect(file.headers.get("repr-digest")).toBe(`sha-256=:${Buffer.from(made.sha256 ?? "", "hex").toString("base64")}:`);

    expect((await call("DELETE", `/${made.id}`)).status).toBe(204);
    expect([(await call("GET", `/${made.id}`)).status, readdirSync(directory)]).toEqual([404, []]);
    const audited = listEnvelope(AuditRecord).parse((await gateway.get("/api/v1/audit?target=backup", admin.token)).body).data;
    expect(audited.map(({ action }) => action)).toEqual(["backup.delete", "backup.download", "backup.start"]);
  });

  test("is one at a time", async () => {
    await start();
    let finish = () => {};
    runJob = async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      throw new Error("no");
    };
    const first = Backup.parse((await call("POST", "")).body);
    const second = await call("POST", "");
    expect([second.status, second.error.details]).toEqual([409, { backup_id: first.id }]);
    expect((await call("DELETE", `/${first.id}`)).status).toBe(409);
    expect((await download(first.id)).status).toBe(404);
    expect((await call("POST", `/${first.id}/verify`, {})).status).toBe(409);
    finish();
    await ended(first.id);
    runJob = (job) => doBackupJob(job);
    expect((await make()).status).toBe("completed");
  });

  test("that fails says why, raises an alert that the next one ends, and leaves nothing", async () => {
    await start();
    mkdirSync(directory);
    runJob = async () => {
      throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    };
    const failed = await make();
    expect(failed).toMatchObject({ status: "failed", error: "database or disk is full", available: false, sha256: null });
    expect(await events("backup_failed")).toEqual([{ backup_id: failed.id, reason: "database or disk is full" }]);
    expect((await alerts()).map(({ type, source, severity }) => [type, source, severity])).toEqual([["backup_failed", "health", "high"]]);
    expect((await download(failed.id)).status).toBe(404);
    runJob = (job) => doBackupJob(job);
    await make();
    expect(await alerts()).toEqual([]);
    expect((await listAll()).map(({ status }) => status)).toEqual(["completed", "failed"]);
    expect(listEnvelope(Backup).parse((await call("GET", "?status=failed")).body).data.map(({ id }) => id)).toEqual([failed.id]);
  });

  test("is not made without a key to make it for", async () => {
    await start({ recipients: [] });
    const answer = await call("POST", "");
    expect([answer.status, answer.error]).toMatchObject([409, { code: "CONFLICT", details: { reason: "no-backup-key" } }]);
    expect((answer.error.details as { readonly action: string }).action).toContain("lanthorn-collector backups key");
    expect(await listAll()).toEqual([]);
  });
});

describe("a verification", () => {
  test("compares the checksum, and with the private key restores", async () => {
    await start();
    const { id } = await make();
    const begun = await call("POST", `/${id}/verify`, {});
    expect([begun.status, Backup.parse(begun.body).verification]).toMatchObject([202, { status: "running", method: "checksum" }]);
    expect((await ended(id)).verification).toMatchObject({
      status: "passed", method: "checksum", error: null, not_checked: expect.stringContaining("not decrypted") as string,
    });
    expect((await call("POST", `/${id}/verify`, { secret_key: identity })).status).toBe(202);
    expect((await ended(id)).verification).toMatchObject({ status: "passed", method: "restore", not_checked: null });
    const log = JSON.stringify((await gateway.get("/api/v1/audit", admin.token)).body);
    expect(log).toContain("backup.verify");
    expect(log).not.toContain(identity);
    expect(readdirSync(directory)).toHaveLength(1);
  });

  test("tells a changed file, and another's key, and raises an alert", async () => {
    await start();
    const { id } = await make();
    await call("POST", `/${id}/verify`, { secret_key: (await generateIdentity()).identity });
    expect((await ended(id)).verification).toMatchObject({
      status: "failed", method: "restore", error: "the backup is encrypted to another key",
    });
    const file = join(directory, readdirSync(directory)[0] ?? "");
    const bytes = readFileSync(file);
    bytes[bytes.length - 100] = (bytes[bytes.length - 100] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    await call("POST", `/${id}/verify`, {});
    expect((await ended(id)).verification).toMatchObject({ status: "failed", method: "checksum" });
    expect((await alerts()).map(({ type, count }) => [type, count])).toEqual([["backup_failed", 2]]);
    expect((await call("POST", `/${id}/verify`, { secret_key: "nonsense" })).error.details).toEqual([
      { path: "secret_key", message: "AGE-SECRET-KEY-1… was expected" },
    ]);
  });
});

describe("scheduled backups", () => {
  test("are made when they are due, and the oldest go", async () => {
    await start({ schedule: "30 3 * * *", keep: 2 });
    const schedule = BackupSettings.parse((await call("GET", "/settings")).body);
    expect(schedule).toMatchObject({ schedule: "30 3 * * *", keep: 2, recipients: [recipient] });
    expect(Date.parse(schedule.next_at ?? "") - clock.now()).toBeLessThanOrEqual(DAY_MS);
    const manual = await make();
    for (let day = 1; day <= 4; day += 1) {
      clock.jump(DAY_MS);
      await signIn();
      await backups.job.run();
      await vi.waitFor(async () => expect((await listAll()).every(({ status }) => status === "completed")).toBe(true), {
        timeout: 300_000, interval: 10,
      });
      await backups.job.run();
    }
    const kept = await listAll();
    expect(kept.map(({ trigger, requested_by: by }) => [trigger, by])).toEqual([
      ["scheduled", "schedule"], ["scheduled", "schedule"], ["manual", manual.requested_by],
    ]);
    expect(kept.at(-1)?.id).toBe(manual.id);
    expect(readdirSync(directory)).toHaveLength(3);
  });

  test("that were missed are made up for by one", async () => {
    await start({ schedule: "0 * * * *" });
    clock.jump(10 * DAY_MS);
    await signIn();
    await backups.job.run();
    await vi.waitFor(async () => expect((await listAll()).map(({ status }) => status)).toEqual(["completed"]), {
      timeout: 300_000, interval: 10,
    });
    await backups.job.run();
    expect(await listAll()).toHaveLength(1);
  });
});

describe("settings of backups", () => {
  test("are set through the API, recorded in the audit log, and followed", async () => {
    await start({ recipients: [] });
    expect(BackupSettings.parse((await call("GET", "/settings")).body)).toEqual({
      schedule: null, next_at: null, keep: 7, recipients: [], fixed: [], updated_at: null, updated_by: null,
    });
    expect((await call("POST", "")).status).toBe(409);
    const own = await call("PUT", "/settings", { recipients: [recipient] });
    expect([own.status, BackupSettings.parse((await call("GET", "/settings")).body).recipients]).toEqual([400, []]);
    const operator = { db: gateway.db, audit: createAudit({ clock }), clock, operator: "root" };
    await setRecipients(operator, [recipient], undefined);
    clock.jump(10 * DAY_MS);
    await signIn();
    const set = await call("PUT", "/settings", { schedule: "0 * * * *", keep: 2 });
    const settings = BackupSettings.parse(set.body);
    expect([set.status, settings]).toMatchObject([
      200, { schedule: "0 * * * *", keep: 2, recipients: [recipient], updated_by: admin.username },
    ]);
    // What was due before it was set is not made up for.
    await backups.job.run();
    expect(await listAll()).toEqual([]);
    expect(Date.parse(settings.next_at ?? "") - clock.now()).toBeLessThanOrEqual(DAY_MS / 24);
    clock.jump(DAY_MS / 24);
    await backups.job.run();
    await vi.waitFor(
      async () => expect((await listAll()).map(({ trigger, status }) => [trigger, status])).toEqual([["scheduled", "completed"]]),
      { timeout: 300_000, interval: 10 },
    );
    expect(BackupSettings.parse((await call("PUT", "/settings", { schedule: null })).body)).toMatchObject({
      schedule: null, next_at: null, keep: 2,
    });
    const audited = listEnvelope(AuditRecord).parse((await gateway.get("/api/v1/audit?target=backup_settings", admin.token)).body).data;
    expect(audited.map(({ action, before }) => [action, before])).toMatchObject([
      ["backup.configure", { schedule: "0 * * * *", recipients: [recipient] }],
      ["backup.configure", { schedule: null, recipients: [recipient] }], ["backup.configure", { recipients: [] }],
    ]);
  });

  test("that the configuration says are not changed here, nor to what is none", async () => {
    await start({ keep: 3 });
    expect(BackupSettings.parse((await call("GET", "/settings")).body)).toMatchObject({ keep: 3, fixed: ["keep"] });
    const refused = await call("PUT", "/settings", { keep: 4, schedule: "0 3 * * *" });
    expect([refused.status, refused.error.details]).toEqual([409, { fixed: ["keep"] }]);
    for (const [changes, path] of [[{ schedule: "now and then" }, "schedule"], [{ keep: 0 }, "keep"], [{ more: 1 }, "more"]] as const) {
      const answer = await call("PUT", "/settings", changes);
      expect([answer.status, (answer.error.details as readonly { readonly path: string }[])[0]?.path]).toEqual([400, path]);
    }
  });
});

describe("a collector that stopped in the middle of a backup", () => {
  test("finds it failed when it starts again, and clears what was left", async () => {
    await start();
    runJob = () => new Promise(() => {});
    const { id } = Backup.parse((await call("POST", "")).body);
    mkdirSync(join(directory, `${id}.work`), { recursive: true });
    mkdirSync(join(directory, `${createId()}.work`));
    writeFileSync(join(directory, "mine.txt"), "somebody's own");
    // Another one on the same data, as after a crash.
    const { db, reads, eventLog } = gateway;
    const again = createBackups({
      db, reads, log: eventLog, published: () => {}, audit: async () => {}, clock, runJob, logger: silentLog, isConfirmed: async () => false,
    }, {
      recipients: [recipient], directory, dataDir: gateway.dataDir, database: { file: "" }, postgresBin: undefined, secrets: {}, includeKeys: false, signingKey,
      version: "1", isAlone: true, schedule: undefined, keep: 1, tenant: undefined,
    });
    await again.job.run();
    await again.close();
    expect(await readOne(id)).toMatchObject({ status: "failed", error: "the collector that made it has stopped" });
    expect(readdirSync(directory)).toEqual(["mine.txt"]);
    expect(existsSync(join(directory, "mine.txt"))).toBe(true);
    expect((await alerts()).map(({ type }) => type)).toEqual(["backup_failed"]);
    // The first one never hears of its job; it is not waited for.
    backups = again;
  });

  test("ends it when it is asked to stop", async () => {
    await start();
    runJob = (_job, signal) => new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("the collector was stopped meanwhile")));
    });
    const { id } = Backup.parse((await call("POST", "")).body);
    await backups.close();
    expect(await readOne(id)).toMatchObject({ status: "failed", error: "the collector was stopped meanwhile" });
  });
});
