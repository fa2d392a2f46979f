import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { RateLimitSettings } from "../gateway/configuration.ts";
import type { GatewayEnvironment } from "../gateway/environment.ts";
import { ApiError } from "../gateway/errors.ts";
import { createRateLimiter, type Tier } from "../gateway/limits/rate-limit.ts";
import { tierOf } from "../gateway/limits/tiers.ts";
import { createRouter } from "../gateway/route.ts";
import { limitPages } from "./limit-pages.ts";

function start(tier: Tier) {
  const clock = createFakeClock();
  const app = createRouter();
  app.get("*", limitPages({ limiter: createRateLimiter({ clock }), tier }), (c) => c.text("a file"));
  app.onError((error, c) => c.text(error.message, error instanceof ApiError && error.status === 429 ? 429 : 500, error instanceof ApiError ? error.headers : {}));
  const bindings = (address: string) => ({ peer: { address, probeId: null, secure: false } }) as unknown as GatewayEnvironment["Bindings"];
  return { clock, ask: async (address = "192.0.2.1", accept = "*/*") => app.request("/assets/a.js", { headers: { accept } }, bindings(address)) };
}

test("50 people behind one address open every page of the dashboard in the same minute; in time, an address is refused all the same", async () => {
  const { clock, ask } = start(tierOf(RateLimitSettings.parse(undefined).pages));
  const answers: number[] = [];
  for (let second = 0; second < 50; second += 1) {
    // The page, its 45 files, and its 45 files again where a browser keeps none.
    for (let file = 0; file < 91; file += 1) answers.push((await ask()).status);
    await clock.advance(1000);
  }
  expect(answers.filter((status) => status !== 200)).toEqual([]);
  for (let file = 0; file < 3000; file += 1) answers.push((await ask()).status);
  expect(answers.filter((status) => status === 429).length).toBeGreaterThan(1000);
  expect((await ask("192.0.2.2")).status).toBe(200);
});

test("who is refused reads in a browser what happened, and it asks again when it may; a script reads the API's error", async () => {
  const { ask } = start({ perMinute: 1, burst: 1 });
  expect((await ask()).status).toBe(200);
  const page = await ask("192.0.2.1", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8");
  expect([page.status, page.headers.get("retry-after"), page.headers.get("content-type")]).toEqual([429, "60", "text/html; charset=UTF-8"]);
  const text = await page.text();
  expect(text).toContain('<meta http-equiv="refresh" content="60" />');
  expect(text).toContain("in 60 seconds");
  const file = await ask();
  expect([file.status, file.headers.get("retry-after"), await file.text()]).toEqual([429, "60", "too many requests"]);
});
