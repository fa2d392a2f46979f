import { setTimeout as pause } from "node:timers/promises";
import { createId } from "@lanthorn/runtime";
import { type Attack, loopback, repeat, send } from "./hostile-means.ts";
import type { AttackOrder } from "./hostile-order.ts";

/** The collector takes bodies up to here. */
const MAX_BODY_BYTES = 1024 * 1024;
const DEPTH = 3000;
const MEMBERS = 518_000;
const TOKENS = 43;

/** Where a body is read before anybody has shown who they are, and where only after. */
const TARGETS = [
  ["POST", "/api/auth/login"], ["POST", "/api/v1/auth/login"], ["POST", "/api/v1/agents/enroll"], ["POST", "/api/agents/enroll"],
  ["POST", "/api/auth/refresh"], ["POST", "/api/v1/devices"], ["PUT", "/api/v1/license"], ["POST", "/api/v1/nothing"],
] as const;

function bombs(): readonly string[] {
  const nested = `${"[".repeat(DEPTH)}${"0,".repeat(MEMBERS)}0${"]".repeat(DEPTH)}`;
  const wide = `{${Array.from({ length: 90_000 }, (_, index) => `"${index.toString(36)}":0`).join(",")}}`;
  const half = MAX_BODY_BYTES / 2 - 64;
  return [
    nested, wide, `{"${"k".repeat(half)}":"${"v".repeat(half)}"}`,
    `{"username":"${"\\u0041".repeat(86_000)}","password":"${"\\n".repeat(200_000)}"}`,
    `${"[".repeat(half)}${"]".repeat(half)}`, `${'{"a":'.repeat(150_000)}0${"}".repeat(150_000)}`,
    `${"[".repeat(DEPTH)}${"0,".repeat(MEMBERS)}"\\u0000"${"]".repeat(DEPTH)}`,
  ];
}

/** Bodies of a megabyte that are work to read, without a token, each from another address. */
export const jsonBombs: Attack = async ({ url, seconds }, tally) => {
  const bodies = bombs();
  await repeat({ seconds, atOnce: 4, most: 400 }, async (index) => {
    const [method, path] = TARGETS[index % TARGETS.length] as (typeof TARGETS)[number];
    // Not in step with the targets: each body comes to each.
    const body = bodies[Math.floor(index / TARGETS.length + index) % bodies.length] as string;
    tally.sent(body.length);
    tally.answer((await send(`${url}${path}`, { method, body, from: loopback(20, index) })).answer);
  });
};

async function login(order: AttackOrder, who: { readonly username: string; readonly password: string }): Promise<string> {
  const { text, answer } = await send(`${order.url}/api/auth/login`, {
    method: "POST", from: loopback(21, 1), body: JSON.stringify({ username: who.username, password: who.password }),
  });
  if (answer !== "200") throw new Error(`the login was answered with ${answer}`);
  return (JSON.parse(text) as { readonly access_token: string }).access_token;
}

/** Tokens of one user, each made from the one before. @returns As many as there could be made. */
async function refreshed(order: AttackOrder, first: string, count: number): Promise<readonly string[]> {
  const tokens = [first];
  while (tokens.length < count) {
    const authorization = `Bearer ${tokens.at(-1) ?? ""}`;
    const { text, answer } = await send(`${order.url}/api/auth/refresh`, {
      method: "POST", from: loopback(21, 2), headers: { authorization },
    });
    if (answer !== "200") break;
    tokens.push((JSON.parse(text) as { readonly access_token: string }).access_token);
  }
  return tokens;
}

/** One user with many tokens asks more than one user may. */
export const refreshedTokens: Attack = async (order, tally) => {
  const tokens = await refreshed(order, await login(order, order.viewer), TOKENS);
  tally.answer("tokens", tokens.length);
  await repeat({ seconds: order.seconds - 1, atOnce: 8, most: 20_000 }, async (index) => {
    const authorization = `Bearer ${tokens[index % tokens.length] ?? ""}`;
    tally.sent(0);
    const { answer } = await send(`${order.url}/api/v1/devices?per_page=1000`, {
      method: "GET", headers: { authorization }, from: loopback(21, index % 64),
    });
    tally.answer(answer);
  });
};

/** A viewer has two versions of 40,000 lines compared, over and over. */
export const configDiff: Attack = async (order, tally) => {
  const tokens = await refreshed(order, await login(order, order.viewer), 8);
  await repeat({ seconds: order.seconds - 1, atOnce: 8, most: 400 }, async (index) => {
    const authorization = `Bearer ${tokens[index % tokens.length] ?? ""}`;
    tally.sent(0);
    const { answer } = await send(`${order.url}/api/v1/cmod/devices/${order.deviceId}/diff`, {
      method: "GET", headers: { authorization }, from: loopback(22, 1),
    });
    tally.answer(answer);
    // Whoever is refused for too many comes again; not so fast that nothing but refusing is measured.
    if (answer === "429") await pause(20);
  });
};

/** Logins of people whom there are not, from many addresses. */
export const failedLogins: Attack = ({ url, seconds }, tally) => repeat({ seconds, atOnce: 16, most: 10_000 }, async (index) => {
  const body = JSON.stringify({ username: `nobody-${createId()}${"x".repeat(180)}`, password: "a password of nobody" });
  tally.sent(body.length);
  tally.answer((await send(`${url}/api/auth/login`, { method: "POST", body, from: loopback(23, index) })).answer);
});

/** Keys for doing things once: with bodies of a megabyte, and one key again and again. */
export const replays: Attack = ({ url, seconds, admin, siteId }, tally) => {
  const big = JSON.stringify({ ip: "10.99.0.1", site_id: siteId, tags: ["t".repeat(MAX_BODY_BYTES - 200)] });
  const small = JSON.stringify({ ip: "10.99.0.2", site_id: siteId, hostname: "again" });
  const once = createId();
  return repeat({ seconds, atOnce: 6, most: 5000 }, async (index) => {
    const isBig = index % 3 === 0;
    const body = isBig ? big : small;
    tally.sent(body.length);
    const { answer } = await send(`${url}/api/v1/devices`, {
      method: "POST", body, from: loopback(24, 1), headers: { "x-api-key": admin.apiKey, "idempotency-key": isBig ? createId() : once },
    });
    tally.answer(answer);
  });
};
