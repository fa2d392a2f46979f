import { describe, expect, test } from "vitest";
import { SERVICE_NAMES, SERVICES } from "../gateway/services.ts";
import { startGateway } from "../testing/gateway-for-test.ts";
import type { OpenApiDocument } from "./openapi.ts";

describe("the documentation", () => {
  test("has a page for each service that holds no script and takes nothing from elsewhere", async () => {
    const { url } = await startGateway();
    for (const path of [...SERVICE_NAMES.map((name) => `/api${SERVICES[name].docs}`), "/api/v1/docs"]) {
      const response = await fetch(`${url}${path}`);
      const text = await response.text();
      expect([path, response.status, response.headers.get("content-type")]).toEqual([path, 200, "text/html; charset=UTF-8"]);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(text).not.toMatch(/<script>|<style>| on\w+=| style=|https?:\/\//);
      for (const [, file] of text.matchAll(/(?:src|href)="([^"]+)"/g)) {
        expect([file, (await fetch(`${url}${file}`)).status]).toEqual([file, 200]);
      }
    }
  });

  test("serves Swagger UI's files compressed or plain, and no other file", async () => {
    const { url } = await startGateway();
    const bundle = `${url}/api/docs/assets/swagger-ui-bundle.js`;
    const read = (encoding: string) => fetch(bundle, { headers: { "accept-encoding": encoding } });
    const [plain, gzipped] = [await read("identity"), await read("gzip")];
    expect([plain.headers.get("content-encoding"), gzipped.headers.get("content-encoding")]).toEqual([null, "gzip"]);
    expect(await gzipped.text()).toBe(await plain.text());
    for (const name of ["package.json", "..%2f..%2fpackage.json", "__proto__", "swagger-ui.js.map"]) {
      expect((await fetch(`${url}/api/docs/assets/${name}`)).status).toBe(404);
    }
  });

  test("shows its documents to who has a token, or to all where the configuration says so", async () => {
    const guarded = await startGateway();
    const { token } = await guarded.createTenant("viewer");
    expect((await guarded.get("/api/v1/docs/openapi.json")).status).toBe(401);
    expect((await guarded.get("/api/v1/docs/openapi.json", token)).status).toBe(200);
    const open = await startGateway({ publicDocuments: true });
    const answer = await open.get("/api/docs/openapi.json");
    expect([answer.status, (answer.body as OpenApiDocument).openapi]).toEqual([200, "3.1.0"]);
  });

  test("closes its pages and their files where the configuration says so", async () => {
    const { get, createTenant, url } = await startGateway({ pages: false });
    const { token } = await createTenant("viewer");
    for (const path of ["/api/docs", "/api/v1/docs", "/api/vault/docs", "/api/docs/assets/swagger-ui-bundle.js"]) {
      const answer = await get(path);
      expect([path, answer.status, answer.error.code]).toEqual([path, 401, "UNAUTHORIZED"]);
      expect((await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    }
  });

  test("names what the contract names, writes it once, and says who may call", async () => {
    const { get } = await startGateway({ publicDocuments: true });
    const { paths, components } = (await get("/api/docs/openapi.json")).body as OpenApiDocument;
    const list = paths["/api/v1/devices"]?.["get"];
    expect(list?.operationId).toBe("listDevices");
    expect(list?.security).toEqual(expect.arrayContaining([{ bearer: ["devices:read"] }]));
    const schema = { $ref: "#/components/schemas/DeviceList" };
    expect(list?.responses["200"]).toMatchObject({ content: { "application/json": { schema } } });
    expect(list?.responses["403"]).toEqual({ $ref: "#/components/responses/Forbidden" });
    expect(components.schemas["DeviceList"]).toMatchObject({ properties: { data: { items: { $ref: "#/components/schemas/Device" } } } });
    expect(components.schemas["Device"]).toMatchObject({ properties: { device_type: { $ref: "#/components/schemas/DeviceType" } } });
    expect(paths["/api/v1/auth/login"]?.["post"]?.security).toEqual([]);
  });
});
