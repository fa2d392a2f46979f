import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { createMiddleware } from "hono/factory";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiError } from "../gateway/errors.ts";
import { readPageFiles } from "./files.ts";
import { dashboardRoutes } from "./routes.ts";

const SCRIPT = "console.log(1);".repeat(200);
let folder: string;
let ask: (path: string, headers?: Record<string, string>) => Promise<Response>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-pages-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), '<html><base href="./" /></html>');
  writeFileSync(join(folder, "pages.json"), '["/","/devices","/devices/$deviceId"]');
  writeFileSync(join(folder, "assets/main-1a.js"), SCRIPT);
  writeFileSync(join(folder, "assets/main-1a.js.br"), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, "assets/main-1a.js.gz"), gzipSync(SCRIPT));
  writeFileSync(join(folder, "assets/small-2b.css"), "a{}");
  const files = await readPageFiles(folder);
  if (!files) throw new Error("no files");
  const app = dashboardRoutes(files, createMiddleware(async (_c, next) => next()));
  app.onError((error, c) => c.text(error.message, error instanceof ApiError && error.status === 404 ? 404 : 500));
  ask = async (path, headers = {}) => app.request(path, { headers });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the page is at its own paths alone, with the base that fits its depth, and is asked for anew each time", async () => {
  expect(await (await ask("/devices")).text()).toContain('<base href="./"');
  const deep = await ask("/devices/01989f2e");
  expect(await deep.text()).toContain('<base href="../"');
  expect(deep.headers.get("cache-control")).toBe("no-cache");
  expect(deep.headers.get("content-security-policy")).toContain("script-src 'self'");
  const again = await ask("/devices/01989f2e", { "if-none-match": deep.headers.get("etag") ?? "" });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  expect((await ask("/elsewhere")).status).toBe(404);
  expect((await ask("/api/v1/nothing")).status).toBe(404);
});

test("files are kept forever, and sent in the best coding that is taken", async () => {
  const codings = await Promise.all(["br, gzip", "gzip", "identity", "br;q=0, gzip"].map((accepted) => ask("/assets/main-1a.js", { "accept-encoding": accepted })));
  expect(codings.map(({ headers }) => headers.get("content-encoding"))).toEqual(["br", "gzip", null, "gzip"]);
  const [br, gzip, plain] = await Promise.all(codings.map(async (answer) => Buffer.from(await answer.arrayBuffer())));
  expect([brotliDecompressSync(br ?? ""), gunzipSync(gzip ?? ""), plain].map(String)).toEqual([SCRIPT, SCRIPT, SCRIPT]);
  expect(codings[0]?.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  const small = await ask("/assets/small-2b.css", { "accept-encoding": "br" });
  expect([small.headers.get("content-encoding"), small.headers.get("content-type")]).toEqual([null, "text/css; charset=utf-8"]);
  for (const path of ["/assets/none.js", "/assets/..%2findex.html", "/assets/__proto__"]) expect((await ask(path)).status).toBe(404);
});
