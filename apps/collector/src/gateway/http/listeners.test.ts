import { Agent, request } from "node:https";
import { z } from "@hono/zod-openapi";
import { createFakeClock, createId, silentLog } from "@lanthorn/runtime";
import { mkdtempSync, rmSync } from "node:fs";
import type { TLSSocket } from "node:tls";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Authority, openAuthority } from "../../certificates/authority.ts";
import { createRequest } from "../../certificates/testing/request.ts";
import { startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { probeOf } from "../environment.ts";
import { createRouter, declareRoute, json } from "../route.ts";
import { createClientAddress } from "./address.ts";
import { createConnections } from "./connections.ts";
import { openListener } from "./listeners.ts";

const clock = createFakeClock(Date.now());
let dataDir = "";
let authority: Authority;
let gateway: TestGateway;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-listeners-"));
  authority = await openAuthority({ dataDir, clock });
  const router = createRouter();
  router.openapi(
    declareRoute("probe", {
      method: "get", path: "/who", operationId: "getWho", responses: { 200: { description: "", content: json(z.object({ probe: z.string() })) } },
    }),
    (c) => c.json({ probe: probeOf(c) }, 200),
  );
  gateway = await startTestGateway({
    clock, services: [router], tls: { ...(await authority.issueToServer(["127.0.0.1"])), clientAuthority: authority.certificate },
  });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(dataDir, { recursive: true });
});

async function certificateOf(issuer: Authority, probeId: string) {
  const { key, request: csr } = await createRequest();
  const result = await issuer.issueToProbe(probeId, csr);
  if (!result.ok) throw new Error(result.message);
  return { key, cert: result.issued.certificate };
}

function get(path: string, tls: { readonly key?: string; readonly cert?: string } = {}) {
  return new Promise<{
    readonly status: number; readonly headers: Record<string, unknown>; readonly body: Record<string, unknown>;
  }>((resolve, reject) => {
    const agent = new Agent({ keepAlive: false });
    request(`${gateway.url}${path}`, { ...tls, ca: authority.certificate, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({
        status: response.statusCode ?? 0, headers: response.headers,
        body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
      }));
    }).on("error", reject).end();
  });
}

describe("the HTTPS listener", () => {
  test("is trusted through the authority, asks for no certificate, and says that it is HTTPS for good", async () => {
    const answer = await get("/health");
    expect([answer.status, answer.headers["strict-transport-security"]]).toEqual([200, "max-age=31536000"]);
    expect((await get("/api/v1/who")).status).toBe(401);
  });

  test("knows a probe by its certificate", async () => {
    const probeId = createId();
    const answer = await get("/api/v1/who", await certificateOf(authority, probeId));
    expect([answer.status, answer.body]).toEqual([200, { probe: probeId }]);
    expect(answer.headers["x-ratelimit-limit"]).toBe("100000");
  });

  test("takes a certificate of another authority, of a server, or past its end, for none", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "lanthorn-listeners-"));
    const foreign = await openAuthority({ dataDir: elsewhere, clock });
    expect((await get("/api/v1/who", await certificateOf(foreign, createId()))).status).toBe(401);
    const server = await authority.issueToServer([createId()]);
    expect((await get("/api/v1/who", { key: server.key, cert: server.certificate })).status).toBe(401);
    const mine = await certificateOf(authority, createId());
    clock.jump(91 * 86_400_000);
    expect((await get("/api/v1/who", mine)).status).toBe(401);
    clock.jump(-91 * 86_400_000);
    rmSync(elsewhere, { recursive: true });
  });

  test("shows a new certificate to new connections", async () => {
    const next = await authority.issueToServer(["127.0.0.1", "new.example"]);
    gateway.listener.useCertificate(next);
    const names = await new Promise<string>((resolve, reject) => {
      const asked = request(`${gateway.url}/health`, { ca: authority.certificate, agent: new Agent() }, (response) => response.resume());
      asked.on(
        "socket", (socket) => socket.on("secureConnect", () => resolve((socket as TLSSocket).getPeerCertificate().subjectaltname ?? "")),
      ).on("error", reject).end();
    });
    expect(names).toContain("new.example");
    expect((await get("/api/v1/who", await certificateOf(authority, createId()))).status).toBe(200);
  });

  test("carries the stream as well", async () => {
    const { token } = await gateway.createTenant();
    const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/ws/events?token=${token}`, { ca: authority.certificate });
    await new Promise((resolve, reject) => {
      socket.on("open", resolve).on("error", reject);
    });
    const closed = new Promise((resolve) => {
      socket.on("close", resolve);
    });
    socket.close();
    await closed;
  });
});

test("a listener that cannot be opened names its address", async () => {
  const opening = openListener({ host: "127.0.0.1", port: gateway.listener.port, tls: null }, {
    fetch: () => new Response(), onUpgrade: () => {}, clientAddress: createClientAddress([]), clock, log: silentLog,
    takeAllowance: () => ({ allowed: true, limit: 1, remaining: 0, retryAfterMs: 0, resetMs: 0 }),
    connections: createConnections({
      limits: { total: 1, perAddress: 1, strangersPerAddress: 1, perProxy: 1 }, trustedProxies: [], clock,
    }),
  });
  await expect(opening).rejects.toMatchObject({
    code: "listen-failed", message: `cannot listen on 127.0.0.1 port ${gateway.listener.port}`,
  });
});
