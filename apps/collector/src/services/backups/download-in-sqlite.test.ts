import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Alert, AuditRecord, Backup, listEnvelope, ROLE_SCOPES } from "@lanthorn/contract";
import { createFakeClock, type FakeClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { generateIdentity } from "../../backups/format/age-keys.ts";
import { doBackupJob } from "../../backups/job.ts";
import { generateSigningKey } from "../../backups/format/signing.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { type Backups, createBackups } from "./backups.ts";

let gateway: TestGateway;
let backups: Backups;
let admin: TestTenant;
let clock: FakeClock;
/** Of a backup that is made. */
let id: string;
beforeEach(async () => {
  clock = createFakeClock();
  const { recipient } = await generateIdentity();
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-download-"));
  gateway = await startTestGateway({
    clock, alerts: true, dataDir,
    services(parts) {
      backups = createBackups({ ...parts, runJob: (job) => doBackupJob(job) }, {
        recipients: [recipient], directory: join(dataDir, "backups"), dataDir,
        database: { file: join(dataDir, "lanthorn.db") }, postgresBin: undefined, secrets: {}, includeKeys: false,
        signingKey: generateSigningKey(), version: "1", isAlone: true, schedule: undefined, keep: undefined, tenant: undefined,
      });
      return backups.routes;
    },
  });
  admin = await gateway.createTenant("admin");
  ({ id } = Backup.parse((await gateway.call("POST", "/api/v1/backups", admin.token)).body));
  await vi.waitFor(async () => {
    expect(Backup.parse((await gateway.get(`/api/v1/backups/${id}`, admin.token)).body).status).toBe("completed");
  }, { timeout: 300_000, interval: 10 });
});
afterEach(async () => {
  await backups.close();
  await gateway.stop();
});

const confirm = async (token = admin.token, password = "password") =>
  (await gateway.call("POST", "/api/v1/auth/confirm", token, { password })).status;
const path = () => `/api/v1/backups/${id}/download`;
const refusal = async (credential: string) => {
  const { status, error } = await gateway.call("GET", path(), credential);
  return [status, (error.details as { readonly required?: unknown } | null)?.required];
};
/** @returns The status, with the file read to its end. */
const download = async (token = admin.token) => {
  const response = await fetch(`${gateway.url}${path()}`, { headers: { authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  return response.status;
};
const published = async () => {
  const rows = await gateway.reads.selectFrom("events").select("data").where("type", "=", "backup_downloaded").execute();
  return rows.map(({ data }) => JSON.parse(data) as unknown);
};

describe("a download", () => {
  test("needs an administrator's own token, whose password was confirmed within five minutes with that very token", async () => {
    expect(await refusal(admin.token)).toEqual([403, "password"]);
    const made = await gateway.call("POST", "/api/v1/auth/keys", admin.token, { name: "all", scopes: ROLE_SCOPES.admin });
    const { key } = made.body as { readonly key: string };
    expect(await refusal(key)).toEqual([403, "signed-in"]);
    const operator = await gateway.createUser(admin, "operator");
    expect([await confirm(operator.token), await refusal(operator.token)]).toEqual([200, [403, "admin"]]);
    expect(await published()).toEqual([]);

    expect([await confirm(admin.token, "wrong"), await refusal(admin.token)]).toEqual([403, [403, "password"]]);
    expect([await confirm(), await download()]).toEqual([200, 200]);
    expect(await refusal(key)).toEqual([403, "signed-in"]);
    const { access_token: refreshed } = (await gateway.call("POST", "/api/v1/auth/refresh", admin.token)).body as { access_token: string };
    expect(await refusal(refreshed)).toEqual([403, "password"]);
    clock.jump(300_000);
    expect(await refusal(admin.token)).toEqual([403, "password"]);
  });

  test("is no more for who was demoted after the confirmation", async () => {
    const second = await gateway.createUser(admin, "admin");
    expect([await confirm(second.token), await download(second.token)]).toEqual([200, 200]);
    await gateway.call("PUT", `/api/v1/users/${second.userId}`, admin.token, { role: "operator" });
    expect(await refusal(second.token)).toEqual([403, "admin"]);
  });

  test("is in the audit log and raises an alert", async () => {
    await confirm();
    await download();
    expect(await published()).toEqual([{ backup_id: id, downloaded_by: admin.username, address: "127.0.0.1" }]);
    const alerts = listEnvelope(Alert).parse((await gateway.get("/api/v1/alerts?status=open", admin.token)).body).data;
    expect(alerts.map(({ type, source, severity }) => [type, source, severity])).toEqual([["backup_downloaded", "health", "medium"]]);
    const audited = listEnvelope(AuditRecord).parse((await gateway.get("/api/v1/audit?target=backup", admin.token)).body).data;
    expect(audited.map(({ action }) => action)).toEqual(["backup.download", "backup.start"]);
  });

  test("cannot be had by trying passwords: after five wrong ones the right one waits too", async () => {
    const statuses = [];
    for (let count = 0; count < 6; count += 1) statuses.push(await confirm(admin.token, "wrong"));
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
    expect(await confirm()).toBe(429);
  });
});

describe("another tenant", () => {
  test("sees no backup, makes none, and gets at none", async () => {
    const read = async () => (await gateway.get(`/api/v1/backups/${id}`, admin.token)).body;
    const made = await read();
    const { token } = await gateway.createTenant("admin");
    const other = (method: string, path: string, body?: unknown) => gateway.call(method, `/api/v1/backups${path}`, token, body);
    const forbidden = await other("POST", "");
    expect([forbidden.status, forbidden.error.details]).toEqual([403, { required: "operator tenant" }]);
    expect((await other("GET", "/settings")).status).toBe(403);
    expect((await other("PUT", "/settings", { keep: 1 })).status).toBe(403);
    expect((await other("GET", "")).body).toMatchObject({ data: [], meta: { total: 0 } });
    expect((await other("GET", `/${id}`)).status).toBe(404);
    expect((await other("GET", `/${id}/download`)).status).toBe(404);
    expect((await other("POST", `/${id}/verify`, {})).status).toBe(404);
    expect((await other("DELETE", `/${id}`)).status).toBe(404);
    expect(await read()).toEqual(made);
  });
});
