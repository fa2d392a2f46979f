import { z } from "@hono/zod-openapi";
import { createFakeClock, createId, type FakeClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, TEST_SECRET, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { ApiError } from "../errors.ts";
import { createIdempotencyStore } from "./store.ts";
import { createRouter, declareRoute, json, jsonBody } from "../route.ts";

/** What the next work does; by default it answers its own number. */
let work: (count: number) => Promise<void>;
let done = 0;
let clock: FakeClock;
let gateway: TestGateway;
let tenant: TestTenant;

/** A service whose POST counts how often it was done. */
function countingRoutes() {
  const router = createRouter();
  const route = declareRoute("devices:write", {
    method: "post", path: "/counted", operationId: "postCounted",
    request: { body: jsonBody(z.strictObject({ name: z.string() })) },
    responses: { 201: { description: "Done", content: json(z.object({ count: z.int(), name: z.string() })) } },
  });
  router.openapi(route, async (c) => {
    done += 1;
    const count = done;
    await work(count);
    return c.json({ count, name: c.req.valid("json").name }, 201, { location: `/api/v1/counted/${count}` });
  });
  return router;
}

beforeEach(async () => {
  done = 0;
  work = () => Promise.resolve();
  clock = createFakeClock(Date.UTC(2026, 5, 1));
  gateway = await startTestGateway({ clock, services: [countingRoutes()] });
  tenant = await gateway.createTenant("operator");
});
afterEach(() => gateway.stop());

const post = (key: string | null, body: string | object = { name: "a" },
  options: { readonly token?: string; readonly path?: string } = {}) =>
  gateway.request(`/api/v1${options.path ?? "/counted"}`, {
    method: "POST",
    headers: { authorization: `Bearer ${options.token ?? tenant.token}`, "content-type": "application/json",
      ...(key === null ? {} : { "idempotency-key": key }) },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const replayed = (answer: { readonly headers: Headers }) => answer.headers.get("idempotency-replayed");

describe("a POST with a key", () => {
  test("is done once: a repeated request gets the first answer, marked as a replay", async () => {
    const first = await post("k-1");
    expect([first.status, replayed(first), first.headers.get("location")]).toEqual([201, null, "/api/v1/counted/1"]);
    await clock.leap(23 * 3_600_000);
    const again = await post("k-1");
    expect([again.status, replayed(again), again.headers.get("location"), again.headers.get("content-type")])
      .toEqual([201, "true", "/api/v1/counted/1", first.headers.get("content-type")]);
    expect([again.body, done]).toEqual([first.body, 1]);
    expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  });

  test("is done again without a key, with another key, and a day later", async () => {
    for (const key of [null, null, "k-1", "k-2"]) await post(key);
    expect(done).toBe(4);
    await clock.leap(24 * 3_600_000);
    const login = await gateway.request("/api/v1/auth/login", {
      method: "POST", headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: tenant.username, password: "password" }),
    });
    const token = (login.body as { access_token: string }).access_token;
    expect([replayed(await post("k-1", { name: "a" }, { token })), done]).toEqual([null, 5]);
    expect([replayed(await post("k-1", { name: "a" }, { token })), done]).toEqual(["true", 5]);
  });

  test("and another body, or for another thing, is 409 and does nothing", async () => {
    await post("k-1");
    for (const [body, path] of [[{ name: "b" }, "/counted"], ['{"name": "a"}', "/counted"], [{ name: "a" }, "/counted?x=1"],
      [{ ip: "10.0.0.1" }, "/devices"]] as const) {
      const answer = await post("k-1", body, { path });
      expect([answer.status, answer.error.code, answer.error.details]).toEqual([409, "CONFLICT", { idempotency_key: "k-1" }]);
    }
    expect(done).toBe(1);
    expect(await gateway.db.selectFrom("devices").selectAll().execute()).toEqual([]);
  });

  test("of another caller, in the same tenant or another, is another request", async () => {
    const other = await gateway.createTenant("operator");
    const bodies = [await post("k-1"), await post("k-1", { name: "a" }, { token: other.token })].map(({ body }) => body);
    expect(bodies).toEqual([{ count: 1, name: "a" }, { count: 2, name: "a" }]);
  });

  test("that was refused for good is refused the same way; what failed for the moment is tried again", async () => {
    const wrong = await post("k-1", { nome: "a" });
    expect([wrong.status, replayed(wrong)]).toEqual([400, null]);
    const again = await post("k-1", { nome: "a" });
    expect([again.status, replayed(again), again.body]).toEqual([400, "true", wrong.body]);
    work = () => Promise.reject(new Error("broken"));
    expect((await post("k-2")).status).toBe(500);
    work = () => Promise.reject(new ApiError("SERVICE_UNAVAILABLE", "not now"));
    expect((await post("k-2")).status).toBe(503);
    work = () => Promise.resolve();
    expect([(await post("k-2")).status, replayed(await post("k-2")), done]).toEqual([201, "true", 3]);
    const viewer = await gateway.createTenant("viewer");
    expect((await post("k-3", { name: "a" }, { token: viewer.token })).status).toBe(403);
    await gateway.db.updateTable("users").set({ role: "operator" }).where("id", "=", viewer.userId).execute();
    expect((await post("k-3", { name: "a" }, { token: viewer.token })).status).toBe(201);
  });

  test("sent twenty times at once is done once, and all get its answer", async () => {
    let finish = () => {};
    const started = new Promise<void>((resolve) => {
      work = () => {
        resolve();
        return new Promise<void>((end) => {
          finish = end;
        });
      };
    });
    const answers = Array.from({ length: 20 }, () => post("k-1"));
    await started;
    await clock.advance(200);
    finish();
    // Those who wait ask by the clock, which stands still by itself.
    const ticking = setInterval(() => void clock.advance(50), 5);
    const all = await Promise.all(answers);
    clearInterval(ticking);
    expect(all.map(({ status, body }) => [status, body])).toEqual(Array.from({ length: 20 }, () => [201, { count: 1, name: "a" }]));
    expect(all.filter((answer) => replayed(answer) === null).length).toBe(1);
    expect(done).toBe(1);
  });

  test("with a key that is too long, empty or no text is 400", async () => {
    for (const key of ["x".repeat(256), "", "a b", "ünï"]) {
      const answer = await post(key === "ünï" ? Buffer.from(key).toString("latin1") : key);
      expect([key, answer.status, answer.error.details]).toEqual([key, 400, [expect.objectContaining({ path: "Idempotency-Key" })]]);
    }
    expect([(await post("x".repeat(255))).status, done]).toEqual([201, 1]);
  });

  test("without a token is 401, and a login is done each time", async () => {
    const anonymous = await gateway.request("/api/v1/counted",
      { method: "POST", headers: { "idempotency-key": "k-1", "content-type": "application/json" }, body: "{}" });
    expect(anonymous.status).toBe(401);
    const login = () => gateway.request("/api/v1/auth/login", {
      method: "POST", headers: { "idempotency-key": "k-1", "content-type": "application/json", authorization: `Bearer ${tenant.token}` },
      body: JSON.stringify({ username: tenant.username, password: "password" }),
    });
    const tokens = [await login(), await login()].map(({ body }) => (body as { access_token: string }).access_token);
    expect(tokens[0]).not.toBe(tokens[1]);
    expect(await gateway.db.selectFrom("idempotency_keys").selectAll().execute()).toEqual([]);
  });
});

describe("what is kept", () => {
  test("shows neither the key nor the answer to who reads the database", async () => {
    await post("my-own-key", { name: "svc_live_secret" });
    const kept = JSON.stringify(await gateway.db.selectFrom("idempotency_keys").selectAll().execute());
    for (const secret of ["my-own-key", "svc_live_secret", Buffer.from("svc_live_secret").toString("base64").slice(0, 16)]) expect(kept)
      .not.toContain(secret);
  });

  test("cannot be read after the deployment's secret was changed, and is not done again either", async () => {
    await post("k-1");
    await gateway.db.updateTable("idempotency_keys").set({ answer: Buffer.alloc(64).toString("base64") }).execute();
    expect([(await post("k-1")).status, done]).toEqual([409, 1]);
  });

  test("goes when its day is over", async () => {
    await post("k-1");
    await clock.leap(23 * 3_600_000);
    await post("k-2");
    await clock.leap(3 * 3_600_000);
    await expect.poll(() => gateway.db.selectFrom("idempotency_keys").select("caller").execute())
      .toEqual([{ caller: `user ${tenant.userId}` }]);
  });
});

describe("replicas", () => {
  const request = { caller: "user u", key: "k", fingerprint: "f" };
  const stores = () => [1, 2].map(() => createIdempotencyStore({ db: gateway.db, clock, secret: TEST_SECRET }));

  test("give a request to one of them, and its answer to both", async () => {
    const [one, two] = stores();
    const mine = { ...request, tenantId: tenant.tenantId };
    const begun = await Promise.all([one?.begin(mine), two?.begin(mine), one?.begin(mine), two?.begin(mine)]);
    expect(begun.map((entry) => entry?.state ?? "").toSorted((a, b) => a.localeCompare(b)))
      .toEqual(["mine", "running", "running", "running"]);
    const runId = begun.flatMap((entry) => (entry?.state === "mine" ? [entry.runId] : []))[0] ?? "";
    await one?.keep(runId, mine, { status: 204, headers: {}, body: null });
    for (const store of [one, two]) expect(await store?.begin(mine))
      .toEqual({ state: "done", answer: { status: 204, headers: {}, body: null } });
  });

  test("take over from one that died, after a minute; what that one says then does not count", async () => {
    const [one, two] = stores();
    const mine = { ...request, tenantId: tenant.tenantId };
    const dead = await one?.begin(mine);
    await clock.advance(59_000);
    expect((await two?.begin(mine))?.state).toBe("running");
    await clock.advance(2000);
    expect((await two?.begin({ ...mine, fingerprint: "g" }))?.state).toBe("other");
    expect((await two?.begin(mine))?.state).toBe("mine");
    if (dead?.state === "mine") await one?.keep(dead.runId, mine, { status: 500, headers: {}, body: null });
    expect((await one?.begin(mine))?.state).toBe("running");
  });
});

test("a device made twice by a client that lost the answer is one device", async () => {
  const body = { ip: "10.0.0.7", hostname: "nas" };
  const key = createId();
  const [first, second] = [await post(key, body, { path: "/devices" }), await post(key, body, { path: "/devices" })];
  expect([first.status, second.status, second.body, replayed(second)]).toEqual([201, 201, first.body, "true"]);
  expect((await post(null, body, { path: "/devices" })).status).toBe(409);
});

describe("work that takes longer than its time limit", () => {
  const late = async (key: string, end: (resolve: () => void, reject: (error: Error) => void) => void) => {
    let finish = () => {};
    const before = done;
    work = () => new Promise<void>((resolve, reject) => {
      finish = () => end(resolve, reject);
    });
    const answer = post(key);
    await expect.poll(() => done).toBe(before + 1);
    await clock.advance(31_000);
    expect((await answer).status).toBe(503);
    finish();
    work = () => Promise.resolve();
  };
  const kept = async () => (await gateway.db.selectFrom("idempotency_keys").select("answer").execute()).map(({ answer }) => answer);

  test("is done once all the same, and a repeated request is answered that it was", async () => {
    await late("k-1", (resolve) => resolve());
    await expect.poll(kept).toEqual([""]);
    expect([(await post("k-1")).status, done]).toEqual([409, 1]);
  });

  test("and fails may be tried again", async () => {
    await late("k-1", (_, reject) => reject(new Error("broken")));
    await expect.poll(kept).toEqual([]);
    expect([(await post("k-1")).status, done]).toEqual([201, 2]);
  });
});
