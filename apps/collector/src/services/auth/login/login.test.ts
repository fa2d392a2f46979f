import { AuditRecord, listEnvelope, ROLE_SCOPES, TokenResponse } from "@lanthorn/contract";
import { createFakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { startTestGateway } from "../../../testing/gateway.ts";
import { startGateway } from "../../../testing/gateway-for-test.ts";
import { claimsOf, login } from "../testing/login.ts";
import { createPasswords } from "./passwords.ts";

describe("login", () => {
  test("answers a token with the claims of the user, at both paths", async () => {
    const server = await startGateway();
    const { username, tenantId, userId } = await server.createTenant("viewer");
    const answer = await login(server, { username, password: "password" });
    expect(answer.status).toBe(200);
    const { access_token, token_type, expires_in } = TokenResponse.parse(answer.body);
    expect([token_type, expires_in]).toEqual(["bearer", 86_400]);
    const claims = claimsOf(access_token);
    expect(claims).toMatchObject({ sub: userId, tenant: tenantId, role: "viewer", scope: ROLE_SCOPES.viewer.join(" ") });
    expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(86_400);
    expect((await server.get("/api/v1/devices", access_token)).status).toBe(200);
    const v1 = await server.request("/api/v1/auth/login", {
      method: "POST",
      body: JSON.stringify({ username, password: "password" }),
      headers: { "content-type": "application/json" },
    });
    expect(v1.status).toBe(200);
  });

  test("tells nobody whether it was the name or the password", async () => {
    const server = await startGateway();
    const { username } = await server.createTenant();
    const [wrong, unknown] = [await login(server, { username, password: "x" }), await login(server, { username: "nobody", password: "x" })];
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.body).toEqual(unknown.body);
  });

  test("does the same work for a user that does not exist: one hash of the same cost, one failure counted, one audit record", async () => {
    const real = createPasswords();
    const hashes: string[] = [];
    const server = await startGateway({
      passwords: {
        ...real,
        matches(passwordHash, password) {
          hashes.push(passwordHash.split("$").slice(0, 4).join("$"));
          return real.matches(passwordHash, password);
        },
      },
    });
    const { username } = await server.createTenant();
    const written = async () => {
      const count = async (table: "audit" | "login_failures") => (await server.db.selectFrom(table).select("address").execute()).length;
      return [await count("audit"), await count("login_failures")];
    };
    await login(server, { username, password: "x" });
    const known = await written();
    await login(server, { username: "nobody", password: "x" });
    expect([known, await written()]).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(hashes).toEqual(["$argon2id$v=19$m=19456,t=2,p=1", "$argon2id$v=19$m=19456,t=2,p=1"]);
  });

  test("refuses what is no login", async () => {
    const server = await startGateway();
    for (const body of [{}, { username: "a" }, { username: "a", password: 1 }, { username: "a", password: "b", more: 1 }, [], "x", null]) {
      const answer = await login(server, body);
      expect([answer.status, answer.error.code]).toEqual([400, "BAD_REQUEST"]);
    }
  });

  test("after five failures the user waits at that address until the window ends, with the right password too", async () => {
    const clock = createFakeClock(Date.now());
    const server = await startGateway({ clock, trustedProxies: ["127.0.0.1"] });
    const { username } = await server.createTenant();
    const from = (address: string) => ({ "x-forwarded-for": address });
    for (let count = 0; count < 5; count += 1) {
      expect((await login(server, { username, password: "x" }, from("192.0.2.1"))).status).toBe(401);
      await clock.advance(60_000);
    }
    const refused = await login(server, { username, password: "password" }, from("192.0.2.1"));
    expect([refused.status, refused.error.code, refused.headers.get("retry-after")]).toEqual([429, "RATE_LIMITED", String(10 * 60)]);
    expect((await login(server, { username, password: "password" }, from("192.0.2.2"))).status).toBe(200);
    await clock.advance(10 * 60_000);
    expect((await login(server, { username, password: "password" }, from("192.0.2.1"))).status).toBe(200);
  });

  test("failures are remembered over a restart and between replicas, and forgotten after a login", async () => {
    const clock = createFakeClock(Date.now());
    const first = await startGateway({ clock });
    const second = await startTestGateway({ clock, dataDir: first.dataDir });
    const { username } = await first.createTenant();
    const tries = async (password: string) => [
      (await login(first, { username, password })).status,
      (await login(second, { username, password })).status,
    ];
    expect([...(await tries("x")), ...(await tries("x"))]).toEqual([401, 401, 401, 401]);
    expect(await tries("password")).toEqual([200, 200]);
    expect([...(await tries("x")), ...(await tries("x")), ...(await tries("x"))]).toEqual([401, 401, 401, 401, 401, 429]);
    await second.stop({ keep: true });
    const third = await startTestGateway({ clock, dataDir: first.dataDir });
    expect((await login(third, { username, password: "password" })).status).toBe(429);
    await third.stop({ keep: true });
  });

  test("a clock that is set back locks nobody out for longer", async () => {
    const clock = createFakeClock(Date.now());
    const server = await startGateway({ clock });
    const { username } = await server.createTenant();
    clock.jump(86_400_000);
    for (let count = 0; count < 5; count += 1) await login(server, { username, password: "x" });
    clock.jump(-86_400_000);
    expect((await login(server, { username, password: "password" })).status).toBe(200);
  });

  test("is written down with where it came from, and what was typed as a name is not", async () => {
    const server = await startGateway();
    const admin = await server.createTenant("admin");
    await login(server, { username: admin.username, password: "x" });
    await login(server, { username: "my secret password", password: "x" });
    await login(server, { username: admin.username, password: "password" });
    const { data } = listEnvelope(AuditRecord).parse((await server.get("/api/v1/audit?action=auth", admin.token)).body);
    const actor = { type: "user", id: admin.userId, name: admin.username, address: "127.0.0.1" };
    expect(data.map(({ action, actor: who }) => [action, who])).toEqual([
      ["auth.login", actor],
      ["auth.login_failed", actor],
    ]);
    expect((await server.get(`/api/v1/users/${admin.userId}`, admin.token)).body).toMatchObject({
      last_login_at: expect.stringMatching(/^\d{4}-/),
    });
    const all = JSON.stringify([
      await server.db.selectFrom("audit").selectAll().execute(),
      await server.db.selectFrom("login_failures").selectAll().execute(),
    ]);
    expect(all).not.toContain("my secret");
  });

  test("many guesses at once are no way round the limit", async () => {
    const server = await startGateway();
    const { username } = await server.createTenant();
    const answers = await Promise.all(Array.from({ length: 12 }, () => login(server, { username, password: "x" })));
    expect(answers.filter(({ status }) => status === 401).length).toBe(5);
    expect(answers.filter(({ status }) => status === 429).length).toBe(7);
  });
});

describe("maintenance", () => {
  test("forgets what has ended, and keeps what has not", async () => {
    const clock = createFakeClock(Date.UTC(2026, 5, 1));
    const server = await startGateway({ clock });
    const { token, tenantId } = await server.createTenant();
    const at = (ms: number) => new Date(clock.now() + ms).toISOString();
    for (const [jti, ms] of [
      ["soon", 30_000],
      ["late", 600_000],
    ] as const)
      await server.db
        .insertInto("revoked_tokens")
        .values({ jti, tenant_id: tenantId, expires_at: at(ms) })
        .execute();
    await server.call("POST", "/api/v1/ws/ticket", token);
    await login(server, { username: "nobody", password: "x" });
    const left = async () =>
      Object.fromEntries(
        await Promise.all(
          (["revoked_tokens", "stream_tickets", "login_failures", "audit"] as const).map(async (table) => [
            table,
            (await server.db.selectFrom(table).selectAll().execute()).length,
          ]),
        ),
      );
    expect(await left()).toEqual({ revoked_tokens: 2, stream_tickets: 1, login_failures: 1, audit: 1 });
    await clock.advance(60_000);
    await expect.poll(left).toEqual({ revoked_tokens: 1, stream_tickets: 0, login_failures: 1, audit: 1 });
    clock.jump(31 * 86_400_000);
    await clock.advance(60_000);
    await expect.poll(left).toEqual({ revoked_tokens: 0, stream_tickets: 0, login_failures: 0, audit: 0 });
  });
});
