import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRestClient, readAll, readTagged } from "./rest.ts";

const SITE = {
  id: "01939f6e-2a10-7c3e-8f00-000000000001", name: "Store 12", created_at: "2026-11-20T08:15:30.250Z",
  sweep: { enabled: true, interval_seconds: 300, packets_per_second: 200 }, excluded: [], scan_networks: [], time_zone: null, configuration_revision: 0,
};
let answer: { status: number; body: string; headers?: Record<string, string> };
let seen: { method: string; url: string; authorization: string | undefined; body: string }[];
let headers: IncomingHttpHeaders[];
let server: Server;
let url: string;

beforeEach(async () => {
  [seen, headers] = [[], []];
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      headers.push(request.headers);
      seen.push({ method: request.method ?? "", url: request.url ?? "", authorization: request.headers.authorization, body });
      response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(() => server.close());

const client = (token: string | null = "t0ken") => createRestClient({ url, token: () => token, fetch });

describe("a call", () => {
  test("sends the token, the method and the body, and gives the parsed answer", async () => {
    answer = { status: 201, body: JSON.stringify(SITE) };
    expect(await client().createSite({ name: "Store 12" })).toEqual(SITE);
    expect(seen).toEqual([{ method: "POST", url: "/api/v1/sites", authorization: "Bearer t0ken", body: '{"name":"Store 12"}' }]);
  });

  test("waits for its turn, has the token of then, and fails as that does", async () => {
    answer = { status: 201, body: JSON.stringify(SITE) };
    let token = "before";
    let go = () => {};
    const turn = () => new Promise<void>((resolve) => {
      go = resolve;
    });
    const asked = createRestClient({ url, token: () => token, fetch, turn }).createSite({ name: "Store 12" });
    expect(seen).toEqual([]);
    token = "after";
    go();
    await asked;
    expect(seen).toMatchObject([{ authorization: "Bearer after" }]);
    await expect(createRestClient({ url, token: () => token, fetch, turn: () => Promise.reject(new Error("out")) }).createSite({ name: "x" })).rejects.toThrow("out");
    expect(seen).toHaveLength(1);
  });

  test("that imports a table sends it as CSV", async () => {
    const done = { created: 1, updated: 0, unchanged: 0, dry_run: true };
    answer = { status: 200, body: JSON.stringify(done) };
    const csv = "prefix\r\n192.0.2.0/24\r\n";
    expect(await client().importIpamPrefixes({ csv, dry_run: true })).toEqual(done);
    await client().importIpamAddresses({ csv });
    expect(seen.map(({ url: path, body }) => [path, body])).toEqual([
      ["/api/v1/ipam/prefixes/import?dry_run=true", csv], ["/api/v1/ipam/addresses/import", csv],
    ]);
    expect(headers[0]?.["content-type"]).toBe("text/csv");
  });

  test("that is refused throws the collector's code, status and details", async () => {
    answer = { status: 403, body: JSON.stringify({ error: { code: "FORBIDDEN", message: "no", details: { required: "agents:write" } } }) };
    await expect(client().createSite({ name: "x" })).rejects.toMatchObject({ code: "FORBIDDEN", status: 403, details: { required: "agents:write" } });
  });

  test.each([
    ["a page that is not JSON", 200, "<html>"],
    ["JSON of another shape", 200, '{"ok":true}'],
    ["an error of another shape", 500, '{"message":"oops"}'],
  ])("answered with %s throws not-an-answer", async (_, status, body) => {
    answer = { status, body };
    await expect(client().listSites()).rejects.toMatchObject({ code: "not-an-answer", status });
  });

  test("to nobody throws unreachable with the cause", async () => {
    const nobody = createRestClient({ url: "http://127.0.0.1:1", token: () => null, fetch });
    await expect(nobody.readHealth()).rejects.toMatchObject({ code: "unreachable", cause: expect.anything() as unknown });
  });

  test("for health gives the body also when the collector is degraded", async () => {
    const body = {
      status: "degraded", version: "0.1.0", time: SITE.created_at, parts: { database: { status: "degraded", detail: "full" } },
    };
    answer = { status: 503, body: JSON.stringify(body) };
    expect(await client(null).readHealth()).toEqual(body);
    expect(seen[0]?.authorization).toBeUndefined();
  });
});

test("a record's tag is read with it, and binds writes alone", async () => {
  answer = { status: 200, body: JSON.stringify(SITE), headers: { etag: '"state"' } };
  const options = { url, token: () => "t0ken", fetch };
  expect(await readTagged(options, (rest) => rest.readSite(SITE.id))).toEqual({ record: SITE, etag: '"state"' });
  const bound = createRestClient({ ...options, ifMatch: () => '"state"' });
  await bound.readSite(SITE.id);
  await bound.createSite({ name: "x" });
  await bound.updateSite(SITE.id, { name: "y" });
  answer = { status: 204, body: "" };
  await bound.deleteSite(SITE.id);
  await client().deleteSite(SITE.id);
  expect(headers.map((sent) => sent["if-match"])).toEqual([undefined, undefined, undefined, '"state"', '"state"', undefined]);
});

test("a list is read to its end by its cursors", async () => {
  const pages: Record<string, string | null> = { "": "a b", "a b": null };
  const read = readAll(async (query) => ({
    data: [String(query["cursor"] ?? "first")],
    meta: { page: 1, per_page: 1000, total: 2, next_cursor: pages[String(query["cursor"] ?? "")] ?? null },
  }));
  const all: string[] = [];
  for await (const item of read) all.push(item);
  expect(all).toEqual(["first", "a b"]);
});

describe("a download", () => {
  test("comes as bytes, whatever they are", async () => {
    answer = { status: 200, body: "sealed" };
    const chunks: Uint8Array[] = [];
    const reader = (await client().downloadBackup("some id")).getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) chunks.push(read.value);
    expect(Buffer.concat(chunks).toString()).toBe("sealed");
    expect(seen[0]?.url).toBe("/api/v1/backups/some%20id/download");
  });

  test("that is refused throws the collector's code", async () => {
    answer = { status: 404, body: JSON.stringify({ error: { code: "NOT_FOUND", message: "no backup", details: null } }) };
    await expect(client().downloadBackup("x")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
