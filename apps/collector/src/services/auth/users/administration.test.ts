import { describe, expect, test } from "vitest";
import { startGateway } from "../../../testing/gateway-for-test.ts";
import { createAudit } from "../../audit/audit.ts";
import { createAdministration } from "./administration.ts";
import { createPasswords } from "../login/passwords.ts";

async function start() {
  const server = await startGateway();
  const { db, clock } = server;
  const administration = createAdministration({
    db, clock, passwords: createPasswords(), audit: createAudit({ clock }), operator: "root", siteConfiguration: "{}",
  });
  return { server, administration };
}

const PASSWORD = "a long password";

describe("the operator of the machine", () => {
  test("makes tenants and users, who are then there", async () => {
    const { server, administration } = await start();
    const { tenantId, siteId, loginDomain } = await administration.createTenant("Acme");
    expect([loginDomain, (await administration.createTenant("ACME!")).loginDomain]).toEqual(["acme", "acme-2"]);
    await administration.createUser({ username: "jo", tenant: "Acme", role: "admin", password: PASSWORD });
    await administration.createUser({ username: "al", tenant: tenantId, role: "viewer", password: PASSWORD });
    const { body } = await server.call("POST", "/api/v1/auth/login", null, { username: "jo", password: PASSWORD });
    const { access_token: token } = body as { access_token: string };
    expect((await server.get("/api/v1/sites", token)).body).toMatchObject({ data: [{ id: siteId, name: "default" }] });
    expect(await administration.list()).toMatchObject([
      { name: "ACME!", users: [] },
      { name: "Acme", users: [{ username: "al", role: "viewer", lastLoginAt: null }, { username: "jo" }] },
    ]);
    const { body: audit } = await server.get("/api/v1/audit?actor=root", token);
    expect((audit as { data: object[] }).data).toMatchObject([
      { action: "user.create", actor: { type: "system", id: "operator", name: "root" }, after: { username: "al" } },
      { action: "user.create" }, { action: "tenant.create", after: { name: "Acme" } },
    ]);
  });

  test("gives a password anew, which ends tokens and opens what too many failures had closed", async () => {
    const { server, administration } = await start();
    const user = await server.createTenant();
    const login = async (password: string) =>
      (await server.call("POST", "/api/v1/auth/login", null, { username: user.username, password })).status;
    for (let count = 0; count < 5; count += 1) await login("wrong");
    expect(await login("password")).toBe(429);
    await administration.resetPassword(user.username, PASSWORD);
    expect((await server.get("/api/v1/devices", user.token)).status).toBe(401);
    expect(await login(PASSWORD)).toBe(200);
  });

  test("gets an error for what cannot be done, and nothing has changed", async () => {
    const { server, administration } = await start();
    await administration.createTenant("Acme");
    await server.db.insertInto("tenants").values([
      { id: "1", name: "twin", created_at: "" }, { id: "2", name: "twin", created_at: "" },
    ]).execute();
    const user = { username: "jo", tenant: "Acme", role: "viewer", password: PASSWORD } as const;
    for (const attempt of [
      () => administration.createTenant("Acme"), () => administration.createTenant(" "),
      () => administration.createUser({ ...user, tenant: "none" }), () => administration.createUser({ ...user, tenant: "twin" }),
      () => administration.createUser({ ...user, password: "short" }), () => administration.createUser({ ...user, username: "jo doe" }),
      () => administration.resetPassword("nobody", PASSWORD), () => administration.resetPassword("jo", "short"),
    ]) await expect(attempt()).rejects.toMatchObject({ code: "admin-refused" });
    expect(await server.db.selectFrom("users").selectAll().execute()).toEqual([]);
  });
});
