import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROLE_SCOPES, TokenResponse } from "@lanthorn/contract";
import { createFakeClock, createId, systemClock } from "@lanthorn/runtime";
import { SignJWT, UnsecuredJWT } from "jose";
import { afterEach, describe, expect, test } from "vitest";
import { openDatabase } from "../../db/open.ts";
import { startTestGateway, TEST_SECRET, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { prepareFirstStart } from "./first-start.ts";
import { passwordMatches } from "./passwords.ts";
import { createPeopleStore } from "./store.ts";

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

async function start(options: Parameters<typeof startTestGateway>[0] = {}): Promise<TestGateway> {
  gateway = await startTestGateway(options);
  return gateway;
}

function login({ request }: TestGateway, body: unknown, headers: Record<string, string> = {}) {
  return request("/api/auth/login", { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } });
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
}

function sign(tenant: TestTenant, overrides: Record<string, unknown> = {}, secret = TEST_SECRET, alg = "HS256") {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ sub: tenant.userId, tenant: tenant.tenantId, role: "operator", scope: "devices:read", jti: createId(), iat: now, exp: now + 60, ...overrides })
    .setProtectedHeader({ alg }).sign(secret);
}

describe("login", () => {
  test("answers a token with the claims of the user, at both paths", async () => {
    const server = await start();
    const { username, tenantId, userId } = await server.createTenant("viewer");
    const answer = await login(server, { username, password: "password" });
    expect(answer.status).toBe(200);
    const { access_token, token_type, expires_in } = TokenResponse.parse(answer.body);
    expect([token_type, expires_in]).toEqual(["bearer", 86_400]);
    const claims = claimsOf(access_token);
    expect(claims).toMatchObject({ sub: userId, tenant: tenantId, role: "viewer", scope: ROLE_SCOPES.viewer.join(" ") });
    expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(86_400);
    expect((await server.get("/api/v1/devices", access_token)).status).toBe(200);
    const v1 = await server.request("/api/v1/auth/login", { method: "POST", body: JSON.stringify({ username, password: "password" }), headers: { "content-type": "application/json" } });
    expect(v1.status).toBe(200);
  });

  test("tells nobody whether it was the name or the password", async () => {
    const server = await start();
    const { username } = await server.createTenant();
    const [wrong, unknown] = [await login(server, { username, password: "x" }), await login(server, { username: "nobody", password: "x" })];
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.body).toEqual(unknown.body);
  });

  test("takes as long for a user that does not exist", async () => {
    const server = await start();
    const { username } = await server.createTenant();
    const time = async (name: string) => {
      const startedAt = performance.now();
      await login(server, { username: name, password: "x" });
      return performance.now() - startedAt;
    };
    await time(username);
    const known: number[] = [];
    const unknown: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      known.push(await time(username));
      unknown.push(await time(`nobody-${round}`));
    }
    // The hash takes tens of milliseconds and all else one or two; without it the unknown user would be far below half.
    expect(Math.min(...unknown)).toBeGreaterThan(Math.min(...known) / 2);
  });

  test("refuses what is no login", async () => {
    const server = await start();
    for (const body of [{}, { username: "a" }, { username: "a", password: 1 }, { username: "a", password: "b", more: 1 }, [], "x", null]) {
      const answer = await login(server, body);
      expect([answer.status, answer.error.code]).toEqual([400, "BAD_REQUEST"]);
    }
  });

  test("after five failures the user waits at that address until the window ends, with the right password too", async () => {
    const clock = createFakeClock(Date.now());
    const server = await start({ clock, trustedProxies: ["127.0.0.1"] });
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

  test("many guesses at once are no way round the limit", async () => {
    const server = await start();
    const { username } = await server.createTenant();
    const answers = await Promise.all(Array.from({ length: 12 }, () => login(server, { username, password: "x" })));
    expect(answers.filter(({ status }) => status === 401).length).toBe(5);
    expect(answers.filter(({ status }) => status === 429).length).toBe(7);
  });
});

describe("a token", () => {
  test("is refused when it is expired, forged, unsigned, of another algorithm, without a claim, or no token", async () => {
    const server = await start();
    const tenant = await server.createTenant();
    const past = Math.floor(Date.now() / 1000) - 100;
    const good = await sign(tenant);
    const [header, payload, signature] = good.split(".") as [string, string, string];
    const bad = {
      expired: await sign(tenant, { iat: past - 10, exp: past }),
      "wrong key": await sign(tenant, {}, new TextEncoder().encode("another secret of at least 32 bytes")),
      none: new UnsecuredJWT({ sub: tenant.userId, tenant: tenant.tenantId, role: "admin", scope: "devices:read", jti: "x" }).setIssuedAt().setExpirationTime("1h").encode(),
      "none with a signature": `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.${signature}`,
      "another algorithm": await sign(tenant, {}, TEST_SECRET, "HS512"),
      "changed payload": `${header}.${Buffer.from(JSON.stringify({ ...claimsOf(good), role: "admin" })).toString("base64url")}.${signature}`,
      "no jti": await sign(tenant, { jti: undefined }),
      "no role": await sign(tenant, { role: "king" }),
      garbage: "a.b.c",
      long: "x".repeat(8000),
    };
    expect((await server.get("/api/devices", good)).status).toBe(200);
    for (const [name, token] of Object.entries(bad)) {
      const answer = await server.get("/api/devices", token);
      expect([name, answer.status, answer.error.code]).toEqual([name, 401, "UNAUTHORIZED"]);
    }
    const basic = await server.request("/api/devices", { headers: { authorization: "Basic YTpi" } });
    expect(basic.status).toBe(401);
  });

  test("ends with its user, with its revocation, and with all of the user's", async () => {
    const server = await start();
    const { db, get, createTenant } = server;
    const [gone, revoked, reset] = [await createTenant(), await createTenant(), await createTenant()];
    await db.deleteFrom("users").where("id", "=", gone.userId).execute();
    await db.insertInto("revoked_tokens").values({ jti: String(claimsOf(revoked.token)["jti"]), tenant_id: revoked.tenantId, expires_at: "2099-01-01T00:00:00.000Z" }).execute();
    await db.updateTable("users").set({ tokens_valid_from: new Date(Date.now() + 2000).toISOString() }).where("id", "=", reset.userId).execute();
    for (const { token } of [gone, revoked, reset]) expect((await get("/api/devices", token)).status).toBe(401);
  });

  test("is exchanged for a new one with the role that the user has now", async () => {
    const server = await start();
    const { token, userId } = await server.createTenant("viewer");
    await server.db.updateTable("users").set({ role: "admin" }).where("id", "=", userId).execute();
    const answer = await server.request("/api/auth/refresh", { method: "POST", headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    const fresh = TokenResponse.parse(answer.body).access_token;
    expect(claimsOf(fresh)).toMatchObject({ sub: userId, role: "admin" });
    expect(claimsOf(fresh)["jti"]).not.toBe(claimsOf(token)["jti"]);
    expect((await server.request("/api/auth/refresh", { method: "POST" })).status).toBe(401);
  });
});

describe("the first start", () => {
  test("makes a tenant, a site and an administrator once, and keeps a made password where only its owner reads it", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-first-"));
    const database = await openDatabase({ file: join(dataDir, "lanthorn.db") });
    const prepare = (password?: string) =>
      prepareFirstStart({ store: createPeopleStore(database), clock: systemClock, dataDir, password, siteConfiguration: "{}" });
    const made = await prepare();
    expect(statSync(join(dataDir, "admin-password")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dataDir, "admin-password"), "utf8")).toBe(`${made?.generated?.password}\n`);
    expect(await prepare("another")).toBeNull();
    const user = await createPeopleStore(database).userByName("admin");
    expect(user?.role).toBe("admin");
    expect(await passwordMatches(user?.passwordHash ?? "", made?.generated?.password ?? "")).toBe(true);
    expect((await database.db.selectFrom("sites").selectAll().execute()).map(({ tenant_id, name }) => [tenant_id, name])).toEqual([[user?.tenantId, "default"]]);
    await database.close();
    rmSync(dataDir, { recursive: true });
  });

  test("takes the password that it is given and writes it nowhere", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-first-"));
    const database = await openDatabase({ file: join(dataDir, "lanthorn.db") });
    const made = await prepareFirstStart({ store: createPeopleStore(database), clock: systemClock, dataDir, password: "given", siteConfiguration: "{}" });
    expect(made).toEqual({ username: "admin", generated: null });
    expect(() => statSync(join(dataDir, "admin-password"))).toThrow("ENOENT");
    await database.close();
    rmSync(dataDir, { recursive: true });
  });
});
