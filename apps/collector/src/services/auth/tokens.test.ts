import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { TokenResponse } from "@lanthorn/contract";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { SignJWT, UnsecuredJWT } from "jose";
import { describe, expect, test } from "vitest";
import { TEST_SECRET, type TestTenant } from "../../testing/gateway.ts";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { claimsOf, login } from "./testing/login.ts";

function sign(tenant: TestTenant, overrides: Record<string, unknown> = {}, secret: Uint8Array | KeyObject = TEST_SECRET, alg = "HS256") {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({
    sub: tenant.userId,
    tenant: tenant.tenantId,
    role: "operator",
    scope: "devices:read",
    jti: createId(),
    iat: now,
    exp: now + 60,
    ...overrides,
  })
    .setProtectedHeader({ alg })
    .sign(secret);
}

describe("a token", () => {
  test("is refused when it is expired, forged, unsigned, of another algorithm, without a claim, or no token", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant();
    const past = Math.floor(Date.now() / 1000) - 100;
    const good = await sign(tenant);
    const [header, payload, signature] = good.split(".") as [string, string, string];
    const bad = {
      expired: await sign(tenant, { iat: past - 10, exp: past }),
      "wrong key": await sign(tenant, {}, new TextEncoder().encode("another secret of at least 32 bytes")),
      none: new UnsecuredJWT({ sub: tenant.userId, tenant: tenant.tenantId, role: "admin", scope: "devices:read", jti: "x" })
        .setIssuedAt()
        .setExpirationTime("1h")
        .encode(),
      "none with a signature": `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.${signature}`,
      "another algorithm": await sign(tenant, {}, TEST_SECRET, "HS512"),
      "changed payload":
        `${header}.${Buffer.from(JSON.stringify({ ...claimsOf(good), role: "admin" })).toString("base64url")}.${signature}`,
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
    const server = await startGateway();
    const { db, get, createTenant } = server;
    const [gone, revoked, reset] = [await createTenant(), await createTenant(), await createTenant()];
    await db.deleteFrom("users").where("id", "=", gone.userId).execute();
    await db
      .insertInto("revoked_tokens")
      .values({ jti: String(claimsOf(revoked.token)["jti"]), tenant_id: revoked.tenantId, expires_at: "2099-01-01T00:00:00.000Z" })
      .execute();
    await db
      .updateTable("users")
      .set({ tokens_valid_from: new Date(Date.now() + 2000).toISOString() })
      .where("id", "=", reset.userId)
      .execute();
    for (const { token } of [gone, revoked, reset]) expect((await get("/api/devices", token)).status).toBe(401);
  });

  test("does what its user's role allows now, not when it was made", async () => {
    const { get, db, createTenant } = await startGateway();
    const { token, userId } = await createTenant("admin");
    expect((await get("/api/v1/users", token)).status).toBe(200);
    await db.updateTable("users").set({ role: "viewer" }).where("id", "=", userId).execute();
    expect((await get("/api/v1/users", token)).error.details).toEqual({ required: "users:read" });
    expect((await get("/api/v1/devices", token)).status).toBe(200);
  });

  test("ends with a logout, alone", async () => {
    const server = await startGateway();
    const { token, username } = await server.createTenant("admin");
    const other = TokenResponse.parse((await login(server, { username, password: "password" })).body).access_token;
    expect((await server.call("POST", "/api/auth/logout", token)).status).toBe(204);
    expect((await server.get("/api/devices", token)).status).toBe(401);
    expect((await server.call("POST", "/api/auth/refresh", token)).status).toBe(401);
    expect((await server.get("/api/v1/audit?action=auth.logout", other)).body).toMatchObject({ meta: { total: 1 } });
  });

  test("ends with a password change, of which the answer is a token that counts, also within the same second", async () => {
    const clock = createFakeClock(Date.UTC(2026, 5, 1, 12, 0, 0, 400));
    const server = await startGateway({ clock });
    const { token, username } = await server.createTenant();
    const tokens = [token];
    for (const [old_password, new_password] of [
      ["password", "a new long password"],
      ["a new long password", "an even newer password"],
      ["an even newer password", "the third new password"],
    ]) {
      const answer = await server.call("POST", "/api/v1/auth/password", tokens.at(-1) ?? "", { old_password, new_password });
      expect(answer.status).toBe(200);
      tokens.push(TokenResponse.parse(answer.body).access_token);
    }
    const statuses = [];
    for (const one of tokens) statuses.push((await server.get("/api/devices", one)).status);
    expect(statuses).toEqual([401, 401, 401, 200]);
    expect((await login(server, { username, password: "password" })).status).toBe(401);
    const again = TokenResponse.parse((await login(server, { username, password: "the third new password" })).body);
    expect((await server.get("/api/devices", again.access_token)).status).toBe(200);
    expect(JSON.stringify(await server.db.selectFrom("audit").selectAll().execute())).not.toMatch(/new password|argon2/);
  });

  test("changes the password once, of two at the same moment", async () => {
    const server = await startGateway();
    const { token } = await server.createTenant();
    const change = (new_password: string) =>
      server.call("POST", "/api/v1/auth/password", token, { old_password: "password", new_password });
    const statuses = (await Promise.all([change("the first new password"), change("the other new password")])).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBe(1);
    expect(statuses.every((status) => [200, 401, 403, 409].includes(status))).toBe(true);
  });

  test("changes no password without the old one, and not at the sixth guess either", async () => {
    const server = await startGateway();
    const { token } = await server.createTenant();
    const change = (old_password: string, new_password: string) =>
      server.call("POST", "/api/v1/auth/password", token, { old_password, new_password });
    expect((await change("password", "too short")).status).toBe(400);
    expect((await change("password", "x".repeat(1025))).status).toBe(400);
    for (let count = 0; count < 5; count += 1) expect((await change("wrong", "a new long password")).error.code).toBe("FORBIDDEN");
    expect((await change("password", "a new long password")).error.code).toBe("RATE_LIMITED");
    expect((await server.get("/api/devices", token)).status).toBe(200);
  });

  test("signed with EdDSA counts, and one signed with HS256 and the public key does not", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const server = await startGateway({ tokenKey: { privateKey } });
    const tenant = await server.createTenant();
    expect(JSON.parse(Buffer.from(tenant.token.split(".")[0] ?? "", "base64url").toString())).toEqual({ alg: "EdDSA", typ: "JWT" });
    expect((await server.get("/api/devices", tenant.token)).status).toBe(200);
    const other = generateKeyPairSync("ed25519").privateKey;
    const publicBytes = publicKey.export({ type: "spki", format: "der" });
    for (const [key, alg] of [
      [new TextEncoder().encode(String(publicKey.export({ type: "spki", format: "pem" }))), "HS256"],
      [publicBytes, "HS256"],
      [TEST_SECRET, "HS256"],
      [other, "EdDSA"],
    ] as const) {
      expect((await server.get("/api/devices", await sign(tenant, {}, key, alg))).status).toBe(401);
    }
    expect((await server.get("/api/devices", await sign(tenant, {}, privateKey, "EdDSA"))).status).toBe(200);
  });

  test("is exchanged for a new one with the role that the user has now", async () => {
    const server = await startGateway();
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
