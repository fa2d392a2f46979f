import { ApiKeyCreated, Credential, ROLE_SCOPES, TokenResponse } from "@lanthorn/contract";
import { silentLog } from "@lanthorn/runtime";
import { beforeEach, describe, expect, test } from "vitest";
import { singleKey } from "../sealing/keyring.ts";
import { createSealing } from "../sealing/sealing.ts";
import { openVault } from "../services/vault/open.ts";
import { type Answer, TEST_SECRET, type TestGateway, type TestTenant } from "../testing/gateway.ts";
import { startGateway } from "../testing/gateway-for-test.ts";
import { createIdempotencyStore } from "./idempotency/store.ts";

const SECRET = "wrap-ropes-27";
let gateway: TestGateway;
let admin: TestTenant;
beforeEach(async () => {
  gateway = await startGateway({
    modules: ({ db, reads, audit, clock }) => [openVault({
      db, reads, audit, clock, sealing: createSealing(singleKey(new Uint8Array(32))), log: silentLog, onHanded: async () => {},
    })],
  });
  admin = await gateway.createTenant("admin");
});

const post = (path: string, token: string, body?: object, key = "k-1"): Promise<Answer> => gateway.request(`/api/v1${path}`, {
  method: "POST",
  headers: {
    "idempotency-key": key, ...(token.startsWith("svc_live_") ? { "x-api-key": token } : { authorization: `Bearer ${token}` }),
    ...(body && { "content-type": "application/json" }),
  },
  ...(body && { body: JSON.stringify(body) }),
});
const credential = async () => Credential.parse(
  (await gateway.call("POST", "/api/v1/vault/credentials", admin.token, { type: "snmp", name: "Access", secret: { community: SECRET } })).body,
).id;
const setRole = (role: string) => gateway.db.updateTable("users").set({ role }).where("id", "=", admin.userId).execute();
const actions = async () => (await gateway.reads.selectFrom("audit").select("action").orderBy("id").execute()).map(({ action }) => action);
/** All that a database's reader, or a replay, could find. */
const kept = async () => (await gateway.reads.selectFrom("idempotency_keys").select("answer").execute()).map(({ answer }) => answer);

describe("a reveal with an Idempotency-Key", () => {
  test("repeated by who was made less meanwhile is refused", async () => {
    const id = await credential();
    expect(JSON.stringify((await post(`/vault/credentials/${id}/reveal`, admin.token)).body)).toContain(SECRET);
    await setRole("viewer");
    const again = await post(`/vault/credentials/${id}/reveal`, admin.token);
    expect([again.status, again.error.details]).toEqual([403, { required: "vault:reveal" }]);
  });

  test("repeated after the credential was deleted shows nothing", async () => {
    const id = await credential();
    await post(`/vault/credentials/${id}/reveal`, admin.token);
    await gateway.call("DELETE", `/api/v1/vault/credentials/${id}`, admin.token);
    expect((await post(`/vault/credentials/${id}/reveal`, admin.token)).status).toBe(404);
  });

  test("repeated after its key or token was revoked is 401", async () => {
    const id = await credential();
    const made = ApiKeyCreated.parse((await post("/auth/keys", admin.token, { name: "k", scopes: ["vault:reveal"] })).body);
    expect((await post(`/vault/credentials/${id}/reveal`, made.key)).status).toBe(200);
    await gateway.call("DELETE", `/api/v1/auth/keys/${made.id}`, admin.token);
    expect((await post(`/vault/credentials/${id}/reveal`, made.key)).status).toBe(401);
    await post(`/vault/credentials/${id}/reveal`, admin.token);
    await gateway.call("POST", "/api/v1/auth/logout", admin.token);
    expect((await post(`/vault/credentials/${id}/reveal`, admin.token)).status).toBe(401);
  });

  test("is done each time, and audited each time, and nothing of it is kept", async () => {
    const id = await credential();
    for (let count = 0; count < 2; count += 1) {
      const answer = await post(`/vault/credentials/${id}/reveal`, admin.token);
      expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([200, null]);
    }
    expect((await actions()).filter((action) => action === "credential.reveal").length).toBe(2);
    expect(await kept()).toEqual([]);
  });
});

describe("what makes a secret with an Idempotency-Key", () => {
  const keys = async () => (await gateway.reads.selectFrom("api_keys").select("id").execute()).length;

  test("is done once, and the same again names what was made, without the secret", async () => {
    const body = { name: "k", scopes: ["devices:read"] };
    const made = ApiKeyCreated.parse((await post("/auth/keys", admin.token, body)).body);
    const again = await post("/auth/keys", admin.token, body);
    expect([again.status, again.error.code, again.error.details]).toMatchObject([409, "CONFLICT", { idempotency_key: "k-1" }]);
    expect(JSON.stringify(again.error)).not.toContain(made.key);
    expect(await keys()).toBe(1);
  });

  test("is refused before, and not replayed, when who asks may no more", async () => {
    const body = { type: "snmp", name: "Access", secret: { community: SECRET } };
    expect((await post("/vault/credentials", admin.token, body)).status).toBe(201);
    await setRole("operator");
    expect((await post("/vault/credentials", admin.token, body)).status).toBe(403);
    await setRole("admin");
    expect((await post("/vault/credentials", admin.token, body)).headers.get("idempotency-replayed")).toBe("true");
  });

  test("that was kept by an older release is not replayed", async () => {
    const body = { name: "k", scopes: ROLE_SCOPES.viewer };
    await post("/auth/keys", admin.token, body);
    const [row] = await gateway.reads.selectFrom("idempotency_keys").selectAll().execute();
    const store = createIdempotencyStore({ db: gateway.db, clock: gateway.clock, secret: TEST_SECRET });
    const request = { tenantId: admin.tenantId, caller: `user ${admin.userId}`, key: "k-1", fingerprint: row?.fingerprint ?? "" };
    await store.keep(row?.run_id ?? "", request, { status: 201, headers: {}, body: Buffer.from(SECRET).toString("base64") });
    const again = await post("/auth/keys", admin.token, body);
    expect([again.status, JSON.stringify(again.body).includes(SECRET)]).toEqual([409, false]);
  });

  test("a token or a ticket, is new each time", async () => {
    const tokens = [await post("/auth/refresh", admin.token), await post("/auth/refresh", admin.token)]
      .map(({ body }) => TokenResponse.parse(body).access_token);
    expect(tokens[0]).not.toBe(tokens[1]);
    const tickets = [await post("/ws/ticket", admin.token), await post("/ws/ticket", admin.token)];
    expect(tickets.map(({ status, headers }) => [status, headers.get("idempotency-replayed")])).toEqual([[201, null], [201, null]]);
    expect(await kept()).toEqual([]);
  });
});
