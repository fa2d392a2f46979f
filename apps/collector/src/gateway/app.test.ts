import { z } from "@hono/zod-openapi";
import { ERROR_STATUS, ErrorEnvelope, HealthResponse } from "@lanthorn/contract";
import { createFakeClock } from "@lanthorn/runtime";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { startGateway } from "../testing/gateway-for-test.ts";
import { createRouter, declareRoute, json, jsonBody } from "./route.ts";

const Nothing = json(z.object({}));

function routesForTests() {
  const router = createRouter();
  router.openapi(declareRoute("users:write", {
    method: "post", path: "/echo", operationId: "postEcho", request: { body: jsonBody(z.strictObject({ tags: z.array(z.string()) })) },
    responses: { 200: { description: "", content: Nothing } },
  }), (c) => c.json(c.req.valid("json"), 200));
  router.openapi(
    declareRoute("anyone", { method: "get", path: "/who", operationId: "getWho", responses: { 200: { description: "", content: Nothing } } }),
    (c) => c.json(c.env.peer, 200),
  );
  router.openapi(
    declareRoute("probe", { method: "get", path: "/probe-only", operationId: "getProbeOnly", responses: { 200: { description: "", content: Nothing } } }),
    (c) => c.json({}, 200),
  );
  router.openapi(declareRoute("anyone", {
    method: "get", path: "/broken", operationId: "getBroken", responses: { 200: { description: "", content: Nothing } },
  }), () => {
    throw new Error("inner secret");
  });
  return router;
}

describe("the gateway", () => {
  test("answers health without a token, at every path that it has, with each part's state", async () => {
    const { get } = await startGateway({ parts: { broker: () => ({ status: "ok", detail: "fine" }) } });
    for (const path of ["/health", "/api/health", "/api/v1/health"]) {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(HealthResponse.parse(answer.body)).toMatchObject({
        status: "ok", parts: { database: { status: "ok" }, broker: { status: "ok" } },
      });
    }
  });

  test("answers 503 when a part is degraded or fails, and hides why it failed", async () => {
    const { get } = await startGateway({ parts: { broker: () => { throw new Error("password=x"); } } });
    const answer = await get("/health");
    expect(answer.status).toBe(503);
    expect(HealthResponse.parse(answer.body)).toMatchObject({
      status: "degraded", parts: { database: { status: "ok" }, broker: { status: "degraded" } },
    });
    expect(JSON.stringify(answer.body)).not.toContain("password");
  });

  test("wants credentials before it tells whether a path exists", async () => {
    const { get, request, createTenant } = await startGateway();
    const { token } = await createTenant();
    for (const path of ["/api/v1/nothing", "/", "/api/v1/devices", "/api/devices/x", "/ws/events"]) {
      const answer = await get(path);
      expect([answer.status, answer.error.code, answer.headers.get("www-authenticate")]).toEqual([401, "UNAUTHORIZED", "Bearer"]);
    }
    for (const path of ["/api/v1/nothing", "/", "/api/v2/devices"]) {
      const answer = await get(path, token);
      expect([answer.status, answer.error.code]).toEqual([404, "NOT_FOUND"]);
    }
    const wrongMethod = await request("/api/v1/devices", { method: "PATCH", headers: { authorization: `Bearer ${token}` } });
    expect([wrongMethod.status, wrongMethod.error.code, wrongMethod.headers.get("allow")]).toEqual([405, "NOT_FOUND", "GET, POST"]);
    expect((await request("/api/v1/devices", { method: "PATCH" })).status).toBe(401);
    expect((await request("/api/v1/nothing", { method: "PATCH", headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
  });

  test("every error has the envelope, a request id and the common headers", async () => {
    const { get } = await startGateway({ services: [routesForTests()] });
    for (const answer of [await get("/api/v1/devices"), await get("/api/broken"), await get("/health?x=1")]) {
      expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(answer.headers.get("x-ratelimit-limit")).toBe("100000");
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
      if (answer.status !== 200) {
        const { code } = ErrorEnvelope.parse(answer.body).error;
        expect(ERROR_STATUS[code]).toBe(answer.status);
      }
    }
    const broken = await get("/api/broken");
    expect([broken.status, JSON.stringify(broken.body).includes("inner secret")]).toEqual([500, false]);
  });

  test("checks the scope before the body, and names the scope that is missing", async () => {
    const { request, createTenant } = await startGateway({ services: [routesForTests()] });
    const post = (token: string, body: string) =>
      request("/api/v1/echo", { method: "POST", body, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } });
    const refused = await post((await createTenant("operator")).token, "{");
    expect([refused.status, refused.error.code, refused.error.details]).toEqual([403, "FORBIDDEN", { required: "users:write" }]);
    expect((await post((await createTenant("admin")).token, '{"tags":["a"]}')).status).toBe(200);
  });

  test.each([
    ["broken JSON", '{"tags":', ""],
    ["a wrong type", '{"tags":["a",1]}', "tags.1"],
    ["an unknown field", '{"tags":[],"more":1}', "more"],
    ["nothing", "", ""],
    ["U+0000 in a text", String.raw`{"tags":["a","b\u0000c"]}`, "tags.1"],
    ["U+0000 in a name", String.raw`{"tags":["a"],"b\u0000":1}`, ""],
  ])("answers 400 with the place for %s", async (_, body, path) => {
    const { request, createTenant } = await startGateway({ services: [routesForTests()] });
    const { token } = await createTenant("admin");
    const answer = await request("/api/echo", {
      method: "POST", body, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
    expect([answer.status, answer.error.code]).toEqual([400, "BAD_REQUEST"]);
    expect((answer.error.details as { path: string }[])[0]?.path).toBe(path);
  });

  test("refuses U+0000 in a path and a query, and takes six letters that only look like it for what they are", async () => {
    const { get, request, createTenant } = await startGateway({ services: [routesForTests()] });
    const { token } = await createTenant("admin");
    for (const path of ["/api/v1/devices?search=a%00b", "/api/v1/devices/%00"]) expect((await get(path, token)).status).toBe(400);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await request("/api/v1/echo", { method: "POST", headers, body: String.raw`{"tags":["\\u0000"]}` });
    expect(answer.status).toBe(200);
    expect((await get("/api/v1/devices?search=%2500", token)).status).toBe(200);
  });

  test("wants JSON to be called JSON, and a body of at most 1 MiB however it is sent", async () => {
    const { request, createTenant } = await startGateway({ services: [routesForTests()] });
    const authorization = `Bearer ${(await createTenant("admin")).token}`;
    const form = await request("/api/echo", {
      method: "POST", body: '{"tags":[]}', headers: { authorization, "content-type": "text/plain" },
    });
    expect([form.status, form.error.code]).toEqual([400, "BAD_REQUEST"]);
    const large = JSON.stringify({ tags: ["x".repeat(1024 * 1024)] });
    const whole = await request("/api/echo", {
      method: "POST", body: large, headers: { authorization, "content-type": "application/json" },
    });
    expect([whole.status, whole.error.code, whole.headers.get("connection")]).toEqual([413, "BAD_REQUEST", "close"]);
    const chunked = await request("/api/echo", {
      method: "POST", body: new Blob([large]).stream(), duplex: "half", headers: { authorization, "content-type": "application/json" },
    });
    expect([chunked.status, chunked.error.code]).toEqual([413, "BAD_REQUEST"]);
  });

  test("answers what is no HTTP, and headers without end, with the envelope", async () => {
    const { listener } = await startGateway();
    const raw = (text: string) => new Promise<string>((resolve, reject) => {
      const chunks: Buffer[] = [];
      const socket = connect(listener.port, "127.0.0.1", () => socket.write(text));
      socket.on("data", (chunk) => chunks.push(chunk)).on("end", () => resolve(Buffer.concat(chunks).toString())).on("error", reject);
    });
    for (const [text, status] of [
      ["nonsense\r\n\r\n", 400], [`GET /health?${"x".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
      ["GET /health HTTP/1.1\r\nconnection: close\r\n\r\n", 400], ["GET /health HTTP/1.1\r\nhost: a b\r\n\r\n", 400],
      ["CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n", 400],
    ] as const) {
      const answer = await raw(text);
      expect([text.slice(0, 30), Number(answer.slice(9, 12))]).toEqual([text.slice(0, 30), status]);
      expect(answer.toLowerCase()).toMatch(/x-ratelimit-limit: 100000\r\nx-ratelimit-remaining: \d+\r\n/);
      expect(ErrorEnvelope.parse(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).error.code).toBe("BAD_REQUEST");
    }
  });

  test("believes of X-Forwarded-For what trusted proxies added, and nothing from others", async () => {
    const forwarded = { headers: { "x-forwarded-for": "6.6.6.6, 9.9.9.9, 10.1.2.3" } };
    const plain = await startGateway({ services: [routesForTests()] });
    expect((await plain.request("/api/who", forwarded)).body).toMatchObject({ address: "127.0.0.1", probeId: null, secure: false });
    const proxied = await startGateway({ services: [routesForTests()], trustedProxies: ["127.0.0.0/8", "10.0.0.0/8"] });
    expect((await proxied.request("/api/who", forwarded)).body).toMatchObject({ address: "9.9.9.9" });
    expect((await proxied.request("/api/who", { headers: { "x-forwarded-for": "not an address" } })).body).toMatchObject({
      address: "127.0.0.1",
    });
  });

  test("limits each token by itself, says what is left, and when to come again", async () => {
    const clock = createFakeClock(Date.now());
    const tier = (perMinute: number, burst: number) => ({ perMinute, burst });
    const { get, createTenant } = await startGateway({ clock, tiers: { standard: tier(5, 3), admin: tier(8, 4), service: tier(9, 9) } });
    const [one, two, admin] = [await createTenant(), await createTenant("viewer"), await createTenant("admin")];
    const left = async (token?: string) => {
      const { status, headers } = await get("/api/devices", token);
      return [status, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")];
    };
    expect([await left(one.token), await left(one.token), await left(one.token)]).toEqual([
      [200, "5", "2"], [200, "5", "1"], [200, "5", "0"],
    ]);
    const refused = await get("/api/devices", one.token);
    expect([refused.status, refused.error.code, refused.headers.get("retry-after"), refused.headers.get("x-ratelimit-remaining")]).toEqual(
      [429, "RATE_LIMITED", "1", "0"],
    );
    expect(await left(two.token)).toEqual([200, "5", "2"]);
    expect(await left(admin.token)).toEqual([200, "8", "3"]);
    expect(await left()).toEqual([401, "5", "2"]);
    expect(await left("nonsense")).toEqual([401, "5", "1"]);
    await clock.advance(1000);
    expect([await left(one.token), await left(one.token)]).toEqual([[200, "5", "1"], [200, "5", "0"]]);
    await clock.advance(1000);
    expect((await get("/api/devices", one.token)).headers.get("retry-after")).toBe("58");
  });

  test("gives up on an answer after 30 seconds", async () => {
    const clock = createFakeClock(Date.now());
    let entered = () => {};
    const reached = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const router = createRouter();
    router.openapi(declareRoute("anyone", {
      method: "get", path: "/slow", operationId: "getSlow", responses: { 200: { description: "", content: Nothing } },
    }), () => {
      entered();
      return new Promise<never>(() => {});
    });
    const { get } = await startGateway({ clock, services: [router] });
    const answer = get("/api/slow");
    await reached;
    await clock.advance(30_000);
    expect([(await answer).status, (await answer).error.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
  });

  test("finishes the request under way when it is closed, and takes no new one", async () => {
    let release = () => {};
    let entered = () => {};
    const reached = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const router = createRouter();
    router.openapi(declareRoute("anyone", {
      method: "get", path: "/slow", operationId: "getSlow", responses: { 200: { description: "", content: Nothing } },
    }), async (c) => {
      entered();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return c.json({}, 200);
    });
    const { get, listener, url } = await startGateway({ services: [router] });
    const answer = get("/api/slow");
    await reached;
    const closed = listener.close();
    await expect(new Promise((resolve, reject) => {
      httpRequest(`${url}/health`, { agent: false }, resolve).on("error", reject).end();
    })).rejects.toMatchObject({ code: "ECONNREFUSED" });
    release();
    expect((await answer).status).toBe(200);
    await closed;
  });

  test("declares one access for the check and for the document", async () => {
    const document = routesForTests().getOpenAPI31Document({ openapi: "3.1.0", info: { title: "t", version: "1" } });
    expect(document.paths?.["/echo"]?.post?.security).toEqual([{ bearer: ["users:write"] }, { apiKey: ["users:write"] }]);
    expect(document.paths?.["/who"]?.get?.security).toEqual([]);
    expect(document.paths?.["/probe-only"]?.get?.security).toEqual([{ certificate: [] }]);
  });
});
