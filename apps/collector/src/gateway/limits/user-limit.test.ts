import { ApiKeyCreated, TokenResponse } from "@lanthorn/contract";
import { createFakeClock, type FakeClock } from "@lanthorn/runtime";
import { beforeEach, expect, test } from "vitest";
import type { TestGateway } from "../../testing/gateway.ts";
import { startGateway } from "../../testing/gateway-for-test.ts";

const tier = (perMinute: number) => ({ perMinute, burst: perMinute });
let clock: FakeClock;
let gateway: TestGateway;
beforeEach(async () => {
  clock = createFakeClock(Date.now());
  gateway = await startGateway({ clock, tiers: { standard: tier(5), admin: tier(1000), service: tier(3), tokensPerUser: 4 } });
});

/** How many of so many requests are let through. */
const allowed = async (credentials: readonly string[], each: number) => {
  let count = 0;
  for (const credential of credentials) {
    for (let index = 0; index < each; index += 1) count += (await gateway.call("GET", "/api/v1/devices", credential)).status === 200 ? 1 : 0;
  }
  return count;
};

test("tokens that are refreshed take no more together than their user may", async () => {
  const user = await gateway.createTenant("viewer");
  const tokens: string[] = [];
  for (let token = user.token; tokens.length < 12;) {
    const answer = await gateway.call("POST", "/api/auth/refresh", token);
    if (answer.status !== 200) break;
    token = TokenResponse.parse(answer.body).access_token;
    tokens.push(token);
  }
  expect(tokens.length).toBe(12);
  // Twelve of twenty are used, and each token has four or five of its own left.
  expect(await allowed(tokens, 5)).toBe(8);
  const refused = await gateway.call("GET", "/api/v1/devices", tokens.at(-1) ?? "");
  expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("x-ratelimit-limit"), refused.headers.get("x-ratelimit-reset")])
    .toEqual([429, "60", "5", "60"]);
  const colleague = await gateway.createUser(user, "viewer");
  expect(await allowed([colleague.token], 7)).toBe(5);
  await clock.advance(60_000);
  expect(await allowed(tokens.slice(-1), 7)).toBe(5);
});

test("API keys take no more together than their maker may, and nothing from the maker's own tokens", async () => {
  const maker = await gateway.createTenant("admin");
  const keys: string[] = [];
  for (let index = 0; index < 8; index += 1) {
    const made = await gateway.call("POST", "/api/v1/auth/keys", maker.token, { name: `k${index}`, scopes: ["devices:read"] });
    keys.push(ApiKeyCreated.parse(made.body).key);
  }
  expect(await allowed(keys, 3)).toBe(12);
  expect(await allowed([maker.token], 5)).toBe(5);
});

test("one token has its whole tier, and gets Retry-After beyond it", async () => {
  const { token } = await gateway.createTenant("viewer");
  const ask = async () => {
    const { status, headers } = await gateway.call("GET", "/api/v1/devices", token);
    return [status, headers.get("x-ratelimit-remaining"), headers.get("x-ratelimit-reset")];
  };
  expect([await ask(), await ask()]).toEqual([[200, "4", "60"], [200, "3", "60"]]);
  await clock.advance(20_000);
  expect([await ask(), await ask(), await ask(), await ask()]).toEqual([
    [200, "2", "40"], [200, "1", "40"], [200, "0", "40"], [429, "0", "40"],
  ]);
});
