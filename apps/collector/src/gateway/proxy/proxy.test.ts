import { createServer, type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "@hono/zod-openapi";
import { createFakeClock } from "@lanthorn/runtime";
import { decodeJwt } from "jose";
import { afterEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { actorOf, identityOf } from "../environment.ts";
import { createRouter, declareRoute, json } from "../route.ts";

const SECRET = "what the gateway and the vault share";
const gateways: TestGateway[] = [];
const servers: Server[] = [];
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function startGateway(options: Parameters<typeof startTestGateway>[0]): Promise<TestGateway> {
  const gateway = await startTestGateway(options);
  gateways.push(gateway);
  return gateway;
}

/** A service of somebody else's making. */
async function startService(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<{
  readonly server: Server; readonly url: string;
}> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** @returns The body. */
function postRaw(url: string, path: string, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    httpRequest({ hostname, port, path, method: "POST", headers: { authorization: `Bearer ${token}` } }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk)).on("end", () => resolve(body));
    }).on("error", reject).end();
  });
}

const remote = (url: string) => ({ vault: { url, secret: SECRET, timeout_seconds: 30 } });

/** The gateway before a service, with an administrator and what the service was sent. */
async function startBoth(
  answer: (request: IncomingMessage, response: ServerResponse) => void, options: Parameters<typeof startTestGateway>[0] = {},
) {
  const seen: IncomingMessage[] = [];
  const { server, url } = await startService((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  const gateway = await startGateway({ ...options, remotes: remote(url) });
  const admin = await gateway.createTenant("admin");
  const get = (path: string, init: Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> } = {}) =>
    fetch(`${gateway.url}${path}`, { ...init, headers: { authorization: `Bearer ${admin.token}`, ...init.headers } });
  return { gateway, server, serviceUrl: url, seen, admin, get };
}

describe("a service behind the gateway", () => {
  test("is sent who asks, signed, instead of the credentials, and nothing that the client says of itself", async () => {
    const { seen, admin, get } = await startBoth((_, response) => response.end("{}"));
    const response = await get("/api/vault/things?x=1", {
      headers: {
        "x-forwarded-for": "6.6.6.6", "x-lanthorn-identity": "me", cookie: "a=b", "x-real-ip": "6.6.6.6", forwarded: "for=6.6.6.6",
        accept: "text/x", "x-own": "yes",
      },
    });
    expect(response.status).toBe(200);
    const [request] = seen;
    expect(request?.url).toBe("/api/v1/vault/things?x=1");
    expect(request?.headers).toMatchObject({
      "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "http", accept: "text/x", "x-own": "yes",
    });
    expect(request?.headers["x-request-id"]).toBe(response.headers.get("x-request-id"));
    for (const name of ["authorization", "cookie", "x-real-ip", "forwarded", "x-api-key"]) {
      expect([name, request?.headers[name]]).toEqual([name, undefined]);
    }
    const claims = decodeJwt(String(request?.headers["x-lanthorn-identity"]));
    expect(claims).toMatchObject({
      iss: "lanthorn-gateway", aud: "vault", sub: admin.userId, tenant: admin.tenantId, role: "admin", kind: "user", addr: "127.0.0.1",
    });
    expect(String(claims["scope"]).split(" ")).toContain("vault:reveal");
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(60);
  });

  test("streams both ways, and its answer has the gateway's headers and not its own", async () => {
    const { get } = await startBoth((request, response) => {
      response.writeHead(201, {
        "content-type": "text/plain", "x-own": "1", server: "nginx", "set-cookie": "a=b", "x-ratelimit-limit": "1",
        "content-security-policy": "x", connection: "x-hop", "x-hop": "1",
        location: `${String(request.headers["x-forwarded-proto"])}://elsewhere/`,
      });
      request.pipe(response);
    });
    const chunks = ["one ", "two ", "three"];
    const body = new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(chunk));
      },
    });
    const response = await get("/api/v1/vault/things", { method: "POST", body, duplex: "half" });
    expect([response.status, await response.text(), response.headers.get("x-own"), response.headers.get("x-ratelimit-limit")]).toEqual([
      201, "one two three", "1", "100000",
    ]);
    for (const name of ["server", "set-cookie", "x-hop"]) expect([name, response.headers.get(name)]).toEqual([name, null]);
    expect([response.headers.get("cache-control"), response.headers.get("location")]).toEqual(["no-store", "http://elsewhere/"]);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  test("is not asked by who may not, and each declared route has its own access", async () => {
    const router = createRouter();
    const route = declareRoute("vault:reveal", {
      method: "post", path: "/vault/credentials/{id}/reveal", operationId: "postVaultCredentialsIdReveal", request: { params: z.object({ id: z.string() }) },
      responses: { 200: { description: "", content: json(z.object({})) } },
    });
    router.openapi(route, (c) => c.json({}, 200));
    const { url } = await startService((_, response) => response.end("{}"));
    const gateway = await startGateway({ remotes: remote(url), declared: { vault: [router] } });
    const [viewer, admin] = [await gateway.createTenant("viewer"), await gateway.createTenant("admin")];
    const call = async (method: string, path: string, token?: string) => {
      const answer = await gateway.request(path, { method, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
      return [answer.status, (answer.error?.details as { required?: string } | null)?.required];
    };
    expect(await call("GET", "/api/v1/vault/credentials")).toEqual([401, undefined]);
    expect(await call("GET", "/api/v1/vault/credentials", viewer.token)).toEqual([403, "vault:read"]);
    expect(await call("POST", "/api/v1/vault/credentials", viewer.token)).toEqual([403, "vault:write"]);
    expect(await call("POST", "/api/v1/vault/credentials/x/reveal", viewer.token)).toEqual([403, "vault:reveal"]);
    expect(await call("POST", "/api/v1/vault/credentials/x/reveal", admin.token)).toEqual([200, undefined]);
    // Read as another path by the service than by the check.
    for (const path of ["x%2freveal", "x/reveal/", "x//reveal", "x/reveal;a", "x%5creveal"]) {
      expect([path, (await call("POST", `/api/v1/vault/credentials/${path}`, admin.token))[0]]).toEqual([path, 400]);
    }
    // fetch tidies these up by itself, and so does the listener: what is checked is what is sent.
    for (const path of [
      "/api/v1/vault/a/../credentials/x/reveal", "/api/v1/vault/a/%2e%2e/credentials/x/reveal", "/api/v1/vault/./credentials/x/reveal",
    ]) {
      expect([path, await postRaw(gateway.url, path, viewer.token)]).toEqual([path, expect.stringContaining("vault:reveal")]);
    }
  });

  test.each([
    [404, "<html>", 404, "NOT_FOUND"], [405, "", 404, "NOT_FOUND"], [401, "", 502, "BAD_GATEWAY"], [418, "", 400, "BAD_REQUEST"],
    [413, "", 413, "BAD_REQUEST"], [500, "oops", 500, "INTERNAL_ERROR"], [502, "", 502, "BAD_GATEWAY"],
    [503, "", 503, "SERVICE_UNAVAILABLE"], [504, "", 502, "BAD_GATEWAY"], [429, "", 429, "RATE_LIMITED"],
    [500, "x".repeat(200_000), 500, "INTERNAL_ERROR"],
    [409, JSON.stringify({ error: { code: "CONFLICT", message: "its own words", details: { a: 1 } } }), 409, "CONFLICT"],
  ])("that answers %s has the envelope", async (status, body, expected, code) => {
    const { gateway, admin } = await startBoth((_, response) => {
      response.writeHead(status, { "content-type": "application/json", ...(status === 503 ? { "retry-after": "7" } : {}) });
      response.end(body);
    });
    const answer = await gateway.get("/api/v1/vault/x", admin.token);
    expect([answer.status, answer.error.code]).toEqual([expected, code]);
    if (status === 409) expect(answer.error).toEqual({ code: "CONFLICT", message: "its own words", details: { a: 1 } });
    if (status === 503) expect(answer.headers.get("retry-after")).toBe("7");
    if (status === 429) expect(answer.headers.get("retry-after")).toBe("1");
  });

  test("that is not there is 502, in health too, and is used again when it comes", async () => {
    const { url, server } = await startService((_, response) => response.end("{}"));
    await new Promise((resolve) => void server.close(resolve));
    const gateway = await startGateway({
      remotes: { ...remote(url), ipam: { url: "http://no-such-host.invalid", secret: SECRET, timeout_seconds: 5 } },
    });
    const { token } = await gateway.createTenant("admin");
    for (const path of ["/api/v1/vault/x", "/api/v1/ipam/x"]) {
      const answer = await gateway.get(path, token);
      expect([answer.status, answer.error.code]).toEqual([502, "BAD_GATEWAY"]);
      expect(answer.error.message).not.toContain("127.0.0.1");
    }
    const health = await gateway.get("/health");
    expect([health.status, (health.body as { parts: Record<string, unknown> }).parts["vault"]]).toEqual([
      503, { status: "degraded", detail: "cannot be reached" },
    ]);
    await new Promise<void>((resolve) => {
      server.listen(Number(new URL(url).port), "127.0.0.1", resolve);
    });
    expect((await gateway.get("/api/v1/vault/x", token)).status).toBe(200);
  });

  test("that resets the connection is 502, that is silent 503 when its time is over", async () => {
    const clock = createFakeClock(Date.now());
    let reached = () => {};
    const entered = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const { gateway, admin } = await startBoth((request) => {
      if (request.url?.endsWith("reset")) request.socket.destroy();
      else reached();
    }, { clock });
    expect(
      (await gateway.request("/api/v1/vault/reset", { method: "POST", headers: { authorization: `Bearer ${admin.token}` } })).error.code,
    ).toBe("BAD_GATEWAY");
    const silent = gateway.get("/api/v1/vault/silent", admin.token);
    await entered;
    await clock.advance(30_000);
    expect([(await silent).status, (await silent).error.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
  });

  test("is left alone when the client goes away, and an answer that breaks off is not passed for whole", async () => {
    let closed = () => {};
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { get } = await startBoth((request, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      response.write("begun");
      if (request.url?.endsWith("breaks")) setImmediate(() => response.destroy());
      else response.once("close", closed);
    });
    const controller = new AbortController();
    const response = await get("/api/v1/vault/endless", { signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    await gone;
    await expect((await get("/api/v1/vault/breaks")).text()).rejects.toThrow();
  });

  test("may be another collector, which takes the gateway's word and no one else's", async () => {
    const router = createRouter();
    const route = declareRoute("vault:read", {
      method: "get", path: "/vault/who", operationId: "getVaultWho", responses: { 200: { description: "", content: json(z.object({})) } },
    });
    router.openapi(route, (c) => c.json({ ...actorOf(c), scopes: [...identityOf(c).scopes].length }, 200));
    const behind = await startGateway({ services: [router], gatewaySecret: SECRET });
    const gateway = await startGateway({ remotes: remote(behind.url), declared: { vault: [router] } });
    const admin = await gateway.createTenant("admin");
    const answer = await gateway.get("/api/vault/who", admin.token);
    expect([answer.status, answer.body]).toEqual([
      200, expect.objectContaining({ type: "user", id: admin.userId, tenantId: admin.tenantId, address: "127.0.0.1" }),
    ]);
    const forged = await gateway.get("/api/vault/who", admin.token).then(() => behind.request("/api/v1/vault/who", {
      headers: { "x-lanthorn-identity": "e30.e30.x" },
    }));
    expect([forged.status, forged.error.message]).toEqual([401, "this gateway is not trusted here"]);
    expect((await behind.get("/api/v1/vault/who", admin.token)).status).toBe(401);
  });
});
