import { AuditRecord, listEnvelope } from "@lanthorn/contract";
import { createFakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import type { AuditEntry } from "../../gateway/audit.ts";
import type { TestTenant } from "../../testing/gateway.ts";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { createAudit } from "./audit.ts";
import { redact } from "./redact.ts";

const START = Date.UTC(2026, 5, 1);
const AuditList = listEnvelope(AuditRecord);

async function start() {
  const clock = createFakeClock(START);
  const server = await startGateway({ clock });
  const audit = createAudit({ clock });
  const write = (tenant: TestTenant, entry: Partial<AuditEntry> = {}) =>
    server.db.transaction().execute((trx) =>
      audit(trx, {
        actor: { type: "user", id: tenant.userId, name: tenant.username, tenantId: tenant.tenantId, address: "192.0.2.7" },
        action: "site.create",
        target: { type: "site", id: tenant.siteId },
        before: null,
        after: { name: "a" },
        ...entry,
      }),
    );
  const list = async (tenant: TestTenant, query = "") => {
    const answer = await server.get(`/api/v1/audit${query}`, tenant.token);
    expect([query, answer.status]).toEqual([query, 200]);
    return AuditList.parse(answer.body);
  };
  return { server, clock, write, list };
}

describe("the audit log", () => {
  test("tells who did what to what, when, from where, and how it was and is", async () => {
    const { server, write, list } = await start();
    const tenant = await server.createTenant("admin");
    await write(tenant, { action: "site.update", before: { name: "a" }, after: { name: "b" } });
    expect((await list(tenant)).data).toEqual([
      {
        id: expect.any(String),
        at: "2026-06-01T00:00:00.000Z",
        actor: { type: "user", id: tenant.userId, name: tenant.username, address: "192.0.2.7" },
        action: "site.update",
        target: { type: "site", id: tenant.siteId },
        before: { name: "a" },
        after: { name: "b" },
      },
    ]);
  });

  test("is not written when the transaction that it is part of fails", async () => {
    const { server, write, list } = await start();
    const tenant = await server.createTenant("admin");
    const audit = createAudit({ clock: server.clock });
    await write(tenant);
    await expect(
      server.db.transaction().execute(async (trx) => {
        await audit(trx, {
          actor: { type: "system", id: "", name: "", tenantId: tenant.tenantId, address: "" },
          action: "site.delete",
          target: { type: "site", id: "x" },
          before: {},
          after: null,
        });
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect((await list(tenant)).meta.total).toBe(1);
  });

  test("finds by actor, action, target and time, newest first", async () => {
    const { server, clock, write, list } = await start();
    const tenant = await server.createTenant("admin");
    const actor = { type: "key", id: "key-1", name: "backup script", tenantId: tenant.tenantId, address: "" } as const;
    await write(tenant, { action: "site.create" });
    await clock.leap(3_600_000);
    await write(tenant, { action: "site.delete", actor });
    await clock.leap(3_600_000);
    await write(tenant, { action: "sites.import", target: { type: "user", id: "u" } });
    const found = async (query: string) => (await list(tenant, query)).data.map(({ action }) => action);
    expect(await found("")).toEqual(["sites.import", "site.delete", "site.create"]);
    expect(await found("?action=site")).toEqual(["site.delete", "site.create"]);
    expect(await found("?action=site.delete")).toEqual(["site.delete"]);
    expect(await found("?action=site_")).toEqual([]);
    expect(await found("?actor=key-1")).toEqual(["site.delete"]);
    expect(await found(`?actor=${tenant.username}&target=site`)).toEqual(["site.create"]);
    expect(await found("?target=u")).toEqual(["sites.import"]);
    expect(await found("?since=1h")).toEqual(["sites.import", "site.delete"]);
    expect(await found("?until=1h")).toEqual(["site.create"]);
    expect(await found(`?since=${encodeURIComponent("2026-06-01T03:00:00+02:00")}&until=2026-06-01T02:00:00Z`)).toEqual(["site.delete"]);
  });

  test("is read to its end by its cursor while more is written", async () => {
    const { server, write, list } = await start();
    const tenant = await server.createTenant("admin");
    for (let count = 0; count < 5; count += 1) await write(tenant, { after: { count } });
    const first = await list(tenant, "?per_page=2");
    await write(tenant, { after: { count: 5 } });
    const second = await list(tenant, `?per_page=2&cursor=${first.meta.next_cursor}`);
    const third = await list(tenant, `?per_page=2&cursor=${second.meta.next_cursor}`);
    expect([first, second, third].flatMap(({ data }) => data.map(({ after }) => after?.["count"]))).toEqual([4, 3, 2, 1, 0]);
    expect(third.meta.next_cursor).toBeNull();
    expect((await list(tenant, "?per_page=2&page=3")).data.map(({ after }) => after?.["count"])).toEqual([1, 0]);
  });

  test.each(["?since=yesterday", "?until=2026-02-30T00:00:00Z", "?since=5y", "?cursor=x", "?per_page=0"])(
    "answers 400 for %s",
    async (query) => {
      const { server } = await start();
      const answer = await server.get(`/api/v1/audit${query}`, (await server.createTenant("admin")).token);
      expect([answer.status, answer.error.code]).toEqual([400, "BAD_REQUEST"]);
    },
  );

  test("shows a tenant its own, and needs the scope", async () => {
    const { server, write, list } = await start();
    const [one, two, viewer] = [
      await server.createTenant("admin"),
      await server.createTenant("admin"),
      await server.createTenant("operator"),
    ];
    await write(one);
    expect((await list(two)).data).toEqual([]);
    expect((await server.get("/api/v1/audit", viewer.token)).error.details).toEqual({ required: "audit:read" });
  });

  test("keeps no secret, whatever record it is given", () => {
    expect(
      redact({
        name: "a",
        password: "p",
        passwordHash: "p",
        old_password: "p",
        secret: ["p"],
        secret_hint: "p",
        signingSecret: { deep: "p" },
        api_key: "p",
        "X-API-Key": "p",
        key: "p",
        token: "p",
        snmp: [{ community: "p", auth: "p", port: 161 }],
        credentials: { username: "p" },
        token_id: "t",
        secret_rotated: true,
        key_id: "k",
        monkey: "m",
        password_set_at: null,
        sha256: "of a file",
        secret_sha256: "p",
        key_sha256: "p",
        username_sha256: "p",
      }),
    ).toEqual({
      name: "a",
      password: "[secret]",
      passwordHash: "[secret]",
      old_password: "[secret]",
      secret: "[secret]",
      secret_hint: "[secret]",
      signingSecret: "[secret]",
      api_key: "[secret]",
      "X-API-Key": "[secret]",
      key: "[secret]",
      token: "[secret]",
      snmp: [{ community: "[secret]", auth: "[secret]", port: 161 }],
      credentials: "[secret]",
      token_id: "t",
      secret_rotated: true,
      key_id: "k",
      monkey: "m",
      password_set_at: null,
      sha256: "of a file",
      secret_sha256: "[secret]",
      key_sha256: "[secret]",
      username_sha256: "[secret]",
    });
  });

  test("keeps of a record without end a part, and takes a field's name for nothing but a name", () => {
    const deep: Record<string, unknown> = {};
    deep["self"] = deep;
    expect(JSON.stringify(redact({ deep, long: "x".repeat(1_000_000) })).length).toBeLessThan(3000);
    const hostile = JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}') as object;
    expect(JSON.stringify(redact(hostile))).toBe(JSON.stringify(hostile));
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});
