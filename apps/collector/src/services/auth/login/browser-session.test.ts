import { BrowserSession, type Role } from "@lanthorn/contract";
import { createFakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { startGateway } from "../../../testing/gateway-for-test.ts";

const SESSION = "/api/v1/auth/session";

async function setUp(role: Role = "operator") {
  const clock = createFakeClock(Date.UTC(2026, 5, 1));
  const server = await startGateway({ clock });
  const { token, userId } = await server.createTenant(role);
  const post = (path: string, headers: Record<string, string>) => server.request(path, { method: "POST", headers });
  const bearer = { authorization: `Bearer ${token}` };
  const keep = (headers: Record<string, string> = {}) => post(SESSION, { ...bearer, ...headers });
  const cookie = `lanthorn_session=${token}`;
  const resume = async (headers: Record<string, string> = { cookie }) => {
    const answer = await post(`${SESSION}/resume`, headers);
    return { status: answer.status, set: answer.headers.get("set-cookie"), token: answer.status === 200 ? BrowserSession.parse(answer.body).token : null };
  };
  return { clock, server, token, userId, post, bearer, keep, cookie, resume };
}

describe("the session that a browser keeps", () => {
  test("is a cookie for no script, no other site and no other path, which gives the same token with what is left of its time", async () => {
    const { clock, token, keep, resume } = await setUp();
    const kept = await keep();
    expect([kept.status, kept.headers.get("set-cookie")]).toEqual([204, `lanthorn_session=${token}; Max-Age=86400; HttpOnly; SameSite=Strict`]);
    expect((await keep({ origin: "https://lanthorn.example" })).headers.get("set-cookie")).toMatch(/; Secure$/);
    await clock.advance(3_600_000);
    expect((await resume()).token).toEqual({ access_token: token, token_type: "bearer", expires_in: 82_800 });
  });

  test("opens nothing by itself: no record is read or changed by the cookie, and no session is kept", async () => {
    const { server, post, cookie } = await setUp("admin");
    for (const [method, path] of [
      ["GET", "/api/v1/devices"], ["POST", "/api/v1/devices"], ["DELETE", "/api/v1/users/00000000-0000-7000-8000-000000000000"], ["POST", "/api/v1/auth/refresh"],
      ["POST", "/api/v1/auth/logout"], ["POST", "/api/v1/auth/keys"], ["POST", "/api/v1/ws/ticket"], ["GET", "/api/v1/me"],
    ] as const) {
      const answer = await server.request(path, { method, headers: { cookie } });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    expect((await post(SESSION, { cookie })).status).toBe(401);
  });

  test("is neither kept nor given to a page of another origin, of another site or of another port", async () => {
    const { keep, resume, cookie } = await setUp();
    for (const from of ["cross-site", "same-site", "none"]) {
      const kept = await keep({ "sec-fetch-site": from });
      expect([kept.status, kept.headers.get("set-cookie")]).toEqual([403, null]);
      expect((await resume({ cookie, "sec-fetch-site": from })).status).toBe(403);
    }
    expect((await resume({ cookie, "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  test("ends with its token: by logout, which removes the cookie, by its time, and with the user's other tokens", async () => {
    const ended = "lanthorn_session=; Max-Age=0; HttpOnly; SameSite=Strict";
    const first = await setUp();
    const out = await first.post("/api/v1/auth/logout", { ...first.bearer, cookie: first.cookie });
    expect([out.status, out.headers.get("set-cookie")]).toEqual([204, ended]);
    expect(await first.resume()).toEqual({ status: 200, set: ended, token: null });

    const second = await setUp();
    await second.clock.leap(24 * 3_600_000);
    expect(await second.resume()).toEqual({ status: 200, set: ended, token: null });

    const third = await setUp();
    await third.server.db.deleteFrom("users").where("id", "=", third.userId).execute();
    expect(await third.resume()).toEqual({ status: 200, set: ended, token: null });
  });

  test("is none without a cookie, by an API key, or by what is no token", async () => {
    const { server, token, resume } = await setUp();
    const { key } = (await server.call("POST", "/api/v1/auth/keys", token, { name: "k", scopes: ["devices:read"] })).body as { readonly key: string };
    expect((await server.call("POST", SESSION, key)).status).toBe(403);
    expect(await resume({})).toEqual({ status: 200, set: null, token: null });
    for (const value of [key, "x".repeat(5000), `${token}x`]) expect((await resume({ cookie: `lanthorn_session=${value}` })).token).toBeNull();
  });
});
