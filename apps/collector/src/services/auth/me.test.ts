import { ApiKeyCreated, Me, ROLE_SCOPES } from "@lanthorn/contract";
import { describe, expect, test } from "vitest";
import { startGateway } from "../../testing/gateway-for-test.ts";

describe("who calls", () => {
  test("answers a token with the user, the tenant, the role's scopes and the token's expiry", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant("viewer");
    const me = Me.strict().parse((await server.get("/api/v1/me", tenant.token)).body);
    expect(me).toMatchObject({
      user: { id: tenant.userId, username: tenant.username, role: "viewer" }, tenant: { id: tenant.tenantId, name: "tenant" }, api_key: null,
    });
    expect(new Set(me.scopes)).toEqual(new Set(ROLE_SCOPES.viewer));
    expect(Date.parse(me.expires_at ?? "")).toBeGreaterThan(Date.now());
  });

  test("answers an API key with its name, its scopes and its owner, without any scope being needed", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant("operator");
    const made = await server.call("POST", "/api/v1/auth/keys", tenant.token, { name: "script", scopes: ["ipam:read"] });
    const { key, id } = ApiKeyCreated.parse(made.body);
    const me = Me.parse((await server.call("GET", "/api/v1/me", key)).body);
    expect(me).toMatchObject({ user: { id: tenant.userId }, api_key: { id, name: "script" }, scopes: ["ipam:read"], expires_at: null });
    await server.db.updateTable("users").set({ role: "viewer" }).where("id", "=", tenant.userId).execute();
    expect((await server.call("GET", "/api/v1/me", key)).body).toMatchObject({ scopes: ["ipam:read"], user: { role: "viewer" } });
    expect((await server.get("/api/v1/me")).error.code).toBe("UNAUTHORIZED");
  });
});
