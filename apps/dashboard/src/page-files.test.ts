import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { importPage } from "./page-files.ts";

let server: Server;
let asked: string[];

afterEach(() => server.close());

/** A server that gives its answers one after the other, the last again and again. @returns Its address. */
async function serve(...answers: readonly { readonly status: number; readonly retryAfter?: string }[]): Promise<string> {
  asked = [];
  server = createServer((request, response) => {
    const { status, retryAfter } = answers[Math.min(asked.length, answers.length - 1)] ?? { status: 500 };
    asked.push(request.url ?? "");
    response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end("a file");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/assets/index.js`;
}

test("a page is imported when its files have come, each asked for once; what was refused is asked for again", async () => {
  const from = await serve({ status: 429, retryAfter: "1" }, { status: 429 }, { status: 200 });
  const load = () => Promise.resolve(`after ${asked.length}`);
  expect(await importPage(load, ["./one.js"], from)).toBe("after 3");
  expect(await importPage(load, ["./one.js", "./two.js"], from)).toBe("after 4");
  expect(asked).toEqual(["/assets/one.js", "/assets/one.js", "/assets/one.js", "/assets/two.js"]);
  expect(await importPage(load)).toBe("after 4");
});

test("it is said when a file is refused for long, or four times; the next import asks again", async () => {
  const from = await serve({ status: 429, retryAfter: "43" }, { status: 429, retryAfter: "1" });
  const load = () => Promise.resolve("a page");
  await expect(importPage(load, ["./late.js"], from)).rejects.toMatchObject({ code: "RATE_LIMITED", status: 429, retryAfterSeconds: 43 });
  expect(asked.length).toBe(1);
  await expect(importPage(load, ["./late.js"], from)).rejects.toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 1 });
  expect(asked.length).toBe(5);
});

test("a file that is gone is the import's to report, and who does not answer is called that", async () => {
  const from = await serve({ status: 404 });
  expect(await importPage(() => Promise.resolve("a page"), ["./gone.js"], from)).toBe("a page");
  server.close();
  server.closeAllConnections();
  await expect(importPage(() => Promise.resolve("a page"), ["./away.js"], from)).rejects.toMatchObject({ code: "unreachable" });
});
