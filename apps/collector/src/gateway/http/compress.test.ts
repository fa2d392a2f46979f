import { z } from "@hono/zod-openapi";
import { request as httpRequest } from "node:http";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { TestGateway } from "../../testing/gateway.ts";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { createRouter, declareRoute, json } from "../route.ts";

/** Two routes that answer the same, of which one says that it is a secret. */
function routes() {
  const router = createRouter();
  const responses = { 200: { description: "", content: json(z.object({ text: z.string() })) } };
  const answer = { text: "a ".repeat(2000) };
  router.openapi(declareRoute("devices:read", { method: "get", path: "/open", operationId: "getOpen", responses }), (c) => c.json(answer, 200));
  router.openapi(
    declareRoute("devices:read", { method: "get", path: "/hidden", operationId: "getHidden", "x-secret": "shown", responses }), (c) => c.json(answer, 200),
  );
  return router;
}

/** As it comes over the wire. */
const ask = ({ url }: TestGateway, path: string, headers: Record<string, string>) =>
  new Promise<{ readonly encoding: string | undefined; readonly vary: string | undefined; readonly status: number; readonly body: Buffer }>((resolve, reject) => {
    httpRequest(`${url}${path}`, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => resolve({
        encoding: response.headers["content-encoding"], vary: response.headers.vary, status: response.statusCode ?? 0, body: Buffer.concat(chunks),
      }));
    }).on("error", reject).end();
  });

test("long answers go out in gzip to who takes it; short ones, secrets and those to others as they are", async () => {
  const gateway = await startGateway({ services: [routes()] });
  const { token } = await gateway.createTenant("viewer");
  const authorization = `Bearer ${token}`;
  const plain = await ask(gateway, "/api/v1/open", { authorization });
  expect([plain.status, plain.encoding, plain.vary]).toEqual([200, undefined, "accept-encoding"]);
  const packed = await ask(gateway, "/api/v1/open", { authorization, "accept-encoding": "br, gzip;q=0.8" });
  expect([packed.encoding, packed.vary, packed.body.length < plain.body.length / 10]).toEqual(["gzip", "accept-encoding", true]);
  expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
  for (const [path, accepted] of [["/api/v1/hidden", "gzip"], ["/health", "gzip"], ["/api/v1/open", "gzip;q=0, br"], ["/api/v1/open", "br"]] as const) {
    const answer = await ask(gateway, path, { authorization, "accept-encoding": accepted });
    expect([path, accepted, answer.status, answer.encoding]).toEqual([path, accepted, 200, undefined]);
    expect(() => JSON.parse(answer.body.toString()) as unknown).not.toThrow();
  }
});

test("an export is compressed as it streams, whole", async () => {
  const gateway = await startGateway();
  const tenant = await gateway.createTenant("viewer");
  for (let index = 1; index <= 40; index += 1) await gateway.createDevice(tenant, { ip: `10.0.0.${index}`, hostname: `host-${index}` });
  const authorization = `Bearer ${tenant.token}`;
  const plain = await ask(gateway, "/api/v1/devices/export", { authorization });
  const packed = await ask(gateway, "/api/v1/devices/export", { authorization, "accept-encoding": "gzip" });
  expect([plain.encoding, packed.encoding]).toEqual([undefined, "gzip"]);
  expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
  expect(plain.body.toString().split("\r\n").length).toBe(42);
});
