import { AuditRecord, listEnvelope } from "@lanthorn/contract";
import { createFakeClock, createId, type FakeClock, silentLog, toInstant } from "@lanthorn/runtime";
import { beforeEach, expect, test } from "vitest";
import { createRecordRetention } from "../../retention/records.ts";
import type { TestGateway, TestTenant } from "../../testing/gateway.ts";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { login } from "./testing/login.ts";

let clock: FakeClock;
let server: TestGateway;
let admin: TestTenant;
beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 5, 1));
  server = await startGateway({ clock, trustedProxies: ["127.0.0.1"] });
  admin = await server.createTenant("admin");
});

const from = (address: string) => ({ "x-forwarded-for": address });
const rows = async () => (await server.reads.selectFrom("audit").select(["action", "address", "times"]).orderBy("id").execute())
  .map(({ action, address, times }) => [action, address, times]);
const token = async () => ((await login(server, { username: admin.username, password: "password" })).body as { access_token: string }).access_token;

test("failed logins of an hour are one record for each user and address, with their count", async () => {
  for (let count = 0; count < 6; count += 1) await login(server, { username: `name ${count}`, password: "x" }, from("192.0.2.1"));
  for (let count = 0; count < 3; count += 1) await login(server, { username: admin.username, password: "x" }, from("2001:db8::1"));
  await login(server, { username: admin.username, password: "x" }, from("2001:db8::2"));
  expect(await rows()).toEqual([["auth.login_failed", "192.0.2.1", 6], ["auth.login_failed", "2001:db8::1", 4]]);
  await clock.leap(3_600_000);
  await login(server, { username: "name", password: "x" }, from("192.0.2.1"));
  expect((await rows()).map(([, , times]) => times)).toEqual([6, 4, 1]);
  const { data } = listEnvelope(AuditRecord).parse((await server.get("/api/v1/audit", await token())).body);
  expect(data.map(({ action, after }) => [action, after])).toEqual([
    ["auth.login", null], ["auth.login_failed", { count: 4, last_at: "2026-06-01T00:00:00.000Z" }],
  ]);
});

test("who logs in and out without end pushes nothing out of the audit log", async () => {
  await server.call("POST", "/api/v1/sites", admin.token, { name: "Branch" });
  for (let count = 0; count < 10; count += 1) await server.call("POST", "/api/v1/auth/logout", await token());
  const { db, reads } = server;
  const retention = createRecordRetention({ db, reads, clock, log: silentLog }, {
    audit: { keepDays: 100, keepRecords: 1, keepAuthenticationDays: 10 }, rejected: { keepDays: 100, keepBytes: 1e6 },
  });
  await retention.run();
  expect(await rows()).toEqual([["site.create", "127.0.0.1", 1], ["auth.login", "127.0.0.1", 10], ["auth.logout", "127.0.0.1", 10]]);
  clock.jump(11 * 86_400_000);
  await retention.run();
  await retention.close();
  expect(await rows()).toEqual([["site.create", "127.0.0.1", 1]]);
});

test("records of unauthenticated requests are bounded, the newest stay, and a locked name stays locked", async () => {
  for (let count = 0; count < 5; count += 1) await login(server, { username: admin.username, password: "x" }, from("192.0.2.1"));
  const at = toInstant(clock.now() - 60_000);
  const insertAll = async <T>(count: number, row: (index: number) => T, insert: (all: T[]) => Promise<unknown>) => {
    for (let index = 0; index < count; index += 1000) await insert(Array.from({ length: 1000 }, (_, offset) => row(index + offset)));
  };
  await insertAll(101_000, (index) => ({ username_sha256: String(index), address: "192.0.2.9", failed_at: "[]", updated_at: at }),
    (all) => server.db.insertInto("login_failures").values(all).execute());
  await insertAll(11_000, (index) => ({
    id: createId(), tenant_id: "", at, actor_type: "user", actor_id: "", actor_name: "", address: String(index), action: "auth.login_failed",
    target_type: "user", target_id: "", before: null, after: null, window_key: String(index),
  }), (all) => server.db.insertInto("audit").values(all).execute());
  await clock.advance(60_000);
  const count = async (table: "login_failures" | "audit") =>
    (await server.reads.selectFrom(table).select((eb) => eb.fn.countAll<number>().as("rows")).executeTakeFirstOrThrow()).rows;
  await expect.poll(async () => (await count("login_failures")) <= 100_000, { timeout: 300_000 }).toBe(true);
  await expect.poll(() => count("audit"), { timeout: 300_000 }).toBe(10_001);
  expect((await login(server, { username: admin.username, password: "password" }, from("192.0.2.1"))).status).toBe(429);
});
