import { ApiKeyCreated, AuditRecord, listEnvelope, TokenResponse, User } from "@lanthorn/contract";
import { describe, expect, test } from "vitest";
import { startGateway } from "../../../testing/gateway-for-test.ts";

async function start() {
  const server = await startGateway();
  const admin = await server.createTenant("admin");
  const call = (method: string, path: string, body?: unknown, token = admin.token) =>
    server.call(method, `/api/v1/users${path}`, token, body);
  return { server, admin, call };
}

const NEW = { username: "jo@example.com", password: "correct horse battery", role: "operator", email: "jo@example.com" };

describe("a user", () => {
  test("is made, read, listed, changed and deleted, and each is written down without the password", async () => {
    const { server, admin, call } = await start();
    const made = await call("POST", "", NEW);
    expect([made.status, made.headers.get("location")]).toEqual([201, `/api/v1/users/${(made.body as User).id}`]);
    const user = User.parse(made.body);
    expect(user).toMatchObject({ username: "jo@example.com", role: "operator", email: "jo@example.com", last_login_at: null });
    expect((await call("GET", `/${user.id}`)).body).toEqual(user);
    expect(
      listEnvelope(User)
        .parse((await call("GET", "")).body)
        .data.map(({ username }) => username),
    ).toEqual([admin.username, "jo@example.com"]);
    const changed = await call("PUT", `/${user.id}`, { role: "viewer", email: null });
    expect(User.parse(changed.body)).toEqual({ ...user, role: "viewer", email: null });
    expect((await call("PUT", `/${user.id}`, { password: "another long password" })).status).toBe(200);
    expect((await call("DELETE", `/${user.id}`)).status).toBe(204);
    expect((await call("GET", `/${user.id}`)).status).toBe(404);
    const { data } = listEnvelope(AuditRecord).parse((await server.get(`/api/v1/audit?target=${user.id}`, admin.token)).body);
    expect(data.map(({ action, before, after }) => [action, before?.["role"], after?.["role"]])).toEqual([
      ["user.delete", "viewer", undefined],
      ["user.update", "viewer", "viewer"],
      ["user.update", "operator", "viewer"],
      ["user.create", undefined, "operator"],
    ]);
    expect(data[1]?.after).toMatchObject({ password_changed: true });
    expect(JSON.stringify(data)).not.toMatch(/battery|another long|argon2/);
  });

  test.each([
    ["a short password", { ...NEW, password: "elevenchars" }, "password"],
    ["an endless password", { ...NEW, password: "x".repeat(1025) }, "password"],
    ["an unknown role", { ...NEW, role: "root" }, "role"],
    ["a name with a space", { ...NEW, username: "jo doe" }, "username"],
    ["a name that only looks like another", { ...NEW, username: "аdmin" }, "username"],
    ["no e-mail address", { ...NEW, email: "jo" }, "email"],
    ["an unknown field", { ...NEW, tenant_id: "x" }, "tenant_id"],
  ])("is refused with the place for %s", async (_, body, path) => {
    const { call } = await start();
    const answer = await call("POST", "", body);
    expect([answer.status, (answer.error.details as { path: string }[])[0]?.path]).toEqual([400, path]);
  });

  test("has a name that is one whatever its case: for making another, for logging in and for counting wrong passwords", async () => {
    const { server, call } = await start();
    expect((await call("POST", "", { ...NEW, username: "Jo@Example.com" })).status).toBe(201);
    expect((await call("POST", "", NEW)).error.code).toBe("CONFLICT");
    const login = async (username: string, password: string) =>
      (await server.call("POST", "/api/v1/auth/login", null, { username, password })).status;
    expect(await login("jo@EXAMPLE.com", NEW.password)).toBe(200);
    for (const username of ["jo@example.com", "JO@example.com", "Jo@Example.com", "jO@example.com", "jo@example.COM"]) {
      expect(await login(username, "wrong")).toBe(401);
    }
    expect(await login("jo@example.com", NEW.password)).toBe(429);
  });

  test("has no password that is the user name", async () => {
    const { call } = await start();
    const answer = await call("POST", "", { ...NEW, password: "JO@example.com" });
    expect([answer.status, answer.error.details]).toMatchObject([400, [{ path: "password" }]]);
    const { body } = await call("POST", "", NEW);
    const changed = await call("PUT", `/${(body as User).id}`, { password: NEW.username });
    expect([changed.status, changed.error.details]).toMatchObject([400, [{ path: "password" }]]);
  });

  test("of a tenant with a login domain has a name that ends with it, whether or not another tenant has that name", async () => {
    const { server, admin, call } = await start();
    const other = await server.createTenant("admin");
    expect((await call("POST", "", NEW, other.token)).status).toBe(201);
    await server.db.updateTable("tenants").set({ login_domain: "acme" }).where("id", "=", admin.tenantId).execute();
    for (const username of [NEW.username, "nobody.has.it"]) {
      const answer = await call("POST", "", { ...NEW, username });
      expect([answer.status, answer.error.details]).toMatchObject([400, [{ path: "username" }]]);
    }
    expect((await call("POST", "", { ...NEW, username: "jo@Acme" })).status).toBe(201);
  });

  test("has a name that nobody else has, of whatever tenant", async () => {
    const { server, call } = await start();
    expect((await call("POST", "", NEW)).status).toBe(201);
    expect((await call("POST", "", NEW)).error.code).toBe("CONFLICT");
    const other = await server.createTenant("admin");
    expect((await call("POST", "", NEW, other.token)).error.code).toBe("CONFLICT");
  });

  test("is nobody else's", async () => {
    const { server, admin, call } = await start();
    const other = await server.createTenant("admin");
    for (const [method, body] of [["GET"], ["PUT", { role: "viewer" }], ["DELETE"]] as const) {
      expect((await call(method, `/${admin.userId}`, body, other.token)).status).toBe(404);
    }
    expect(
      listEnvelope(User)
        .parse((await call("GET", "", undefined, other.token)).body)
        .data.map(({ id }) => id),
    ).toEqual([other.userId]);
  });

  test("whose password is set by another, or who is deleted, is logged out at once", async () => {
    const { server, admin, call } = await start();
    const [reset, gone] = [await server.createUser(admin, "viewer"), await server.createUser(admin, "viewer")];
    const status = async (token: string) => (await server.get("/api/v1/devices", token)).status;
    expect([await status(reset.token), await status(gone.token)]).toEqual([200, 200]);
    await call("PUT", `/${reset.userId}`, { password: "a new long password" });
    await call("DELETE", `/${gone.userId}`);
    expect([await status(reset.token), await status(gone.token)]).toEqual([401, 401]);
    const login = await server.call("POST", "/api/v1/auth/login", null, { username: reset.username, password: "a new long password" });
    expect(await status(TokenResponse.parse(login.body).access_token)).toBe(200);
  });

  test("changes the own password with the old one at hand only", async () => {
    const { admin, call } = await start();
    const answer = await call("PUT", `/${admin.userId}`, { password: "a new long password" });
    expect([answer.status, (answer.error.details as { path: string }[])[0]?.path]).toEqual([400, "password"]);
  });
});

describe("the last administrator", () => {
  test("stays one, of two who demote each other at the same moment too", async () => {
    const { server, admin, call } = await start();
    const refusal = async (answer: ReturnType<typeof call>) => [(await answer).status, (await answer).error?.details];
    expect(await refusal(call("DELETE", `/${admin.userId}`))).toEqual([409, { reason: "last-admin" }]);
    expect(await refusal(call("PUT", `/${admin.userId}`, { role: "operator" }))).toEqual([409, { reason: "last-admin" }]);
    const second = await server.createUser(admin, "admin");
    const answers = await Promise.all([
      call("PUT", `/${second.userId}`, { role: "viewer" }),
      call("PUT", `/${admin.userId}`, { role: "viewer" }, second.token),
      call("DELETE", `/${admin.userId}`, undefined, second.token),
      call("DELETE", `/${second.userId}`),
    ]);
    expect(answers.filter(({ status }) => status < 300).length).toBeGreaterThanOrEqual(1);
    const admins = await server.db
      .selectFrom("users")
      .select("id")
      .where("tenant_id", "=", admin.tenantId)
      .where("role", "=", "admin")
      .execute();
    expect(admins.length).toBe(1);
  });

  test("of another tenant does not count", async () => {
    const { server, admin, call } = await start();
    await server.createTenant("admin");
    expect((await call("DELETE", `/${admin.userId}`)).status).toBe(409);
  });
});

describe("who may write users", () => {
  test("gives nobody more than there is to give, by a key with that scope alone", async () => {
    const { server, admin, call } = await start();
    const viewer = await server.createUser(admin, "viewer");
    const make = async (scopes: string[]) =>
      ApiKeyCreated.parse((await server.call("POST", "/api/v1/auth/keys", admin.token, { name: "x", scopes })).body).key;
    const key = await make(["users:write", "users:read"]);
    const refusal = async (answer: ReturnType<typeof call>) => [(await answer).status, (await answer).error.details];
    expect(await refusal(call("POST", "", { ...NEW, role: "admin" }, key))).toEqual([403, { required: "devices:read" }]);
    expect(await refusal(call("POST", "", { ...NEW, role: "viewer" }, key))).toEqual([403, { required: "devices:read" }]);
    expect(await refusal(call("PUT", `/${viewer.userId}`, { role: "admin" }, key))).toEqual([403, { required: "devices:read" }]);
    expect((await call("PUT", `/${admin.userId}`, { password: "a new long password" }, key)).status).toBe(400);
    expect(await refusal(call("PUT", `/${viewer.userId}`, { password: "a new long password" }, key))).toEqual([
      403,
      { required: "devices:read" },
    ]);
    expect(await refusal(call("DELETE", `/${viewer.userId}`, undefined, key))).toEqual([403, { required: "devices:read" }]);
    expect(await server.db.selectFrom("users").select("role").where("id", "=", viewer.userId).execute()).toEqual([{ role: "viewer" }]);
  });

  test("are administrators only, and nobody raises the own role", async () => {
    const { server, admin, call } = await start();
    for (const role of ["viewer", "operator"] as const) {
      const user = await server.createUser(admin, role);
      for (const [method, path, body] of [
        ["GET", ""],
        ["POST", "", NEW],
        ["PUT", `/${user.userId}`, { role: "admin" }],
        ["DELETE", `/${admin.userId}`],
      ] as const) {
        const answer = await call(method, path, body, user.token);
        expect([answer.status, answer.error.details]).toEqual([403, { required: method === "GET" ? "users:read" : "users:write" }]);
      }
    }
  });
});
