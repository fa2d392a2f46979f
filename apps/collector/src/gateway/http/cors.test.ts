import { describe, expect, test } from "vitest";
import { startGateway } from "../../testing/gateway-for-test.ts";

async function start(origins: readonly string[], options: Parameters<typeof startGateway>[0] = {}) {
  return startGateway({ ...options, origins });
}

const GOOD = "https://dashboard.example.org";
const preflight = (origin: string) => ({ method: "OPTIONS", headers: { origin, "access-control-request-method": "PUT" } });

describe("requests from pages of other origins", () => {
  test("may be made and read where the configuration names the origin, refusals too", async () => {
    const { request } = await start([GOOD]);
    const asked = await request("/api/v1/devices/x", preflight(GOOD));
    expect([asked.status, asked.headers.get("access-control-allow-origin"), asked.headers.get("access-control-allow-methods")]).toEqual([
      204, GOOD, "GET, POST, PUT, DELETE",
    ]);
    expect(asked.headers.get("access-control-allow-headers")).toContain("authorization");
    const refused = await request("/api/v1/devices", { headers: { origin: GOOD } });
    expect([
      refused.status, refused.headers.get("access-control-allow-origin"), refused.headers.get("vary"),
    ]).toEqual([401, GOOD, "origin"]);
    expect(refused.headers.get("access-control-expose-headers")).toContain("x-ratelimit-remaining");
    expect(refused.headers.get("access-control-allow-credentials")).toBeNull();
  });

  test.each([
    "https://evil.example.org", `${GOOD}.evil.org`, "null", "http://dashboard.example.org",
  ])("get no permission for %s", async (origin) => {
    const { request } = await start([GOOD]);
    for (const answer of [await request("/api/v1/devices", preflight(origin)), await request("/api/v1/devices", { headers: { origin } })]) {
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("are nothing special where no origin is named", async () => {
    const { request } = await start([]);
    const asked = await request("/api/v1/devices", preflight(GOOD));
    expect([asked.status, asked.headers.get("access-control-allow-origin"), asked.headers.get("vary")]).toEqual([401, null, null]);
  });

  test("are asked for at the cost of no request, but not without end", async () => {
    const tier = { perMinute: 3, burst: 3 };
    const { request } = await start(["*"], { tiers: { standard: { perMinute: 1, burst: 1 }, admin: tier, service: tier } });
    const answers = [];
    for (let count = 0; count < 4; count += 1) answers.push(await request("/api/v1/devices", preflight(GOOD)));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 429]);
    expect(answers[0]?.headers.get("access-control-allow-origin")).toBe("*");
    expect((await request("/api/v1/devices", {})).status).toBe(401);
  });
});

test("a URL that is longer than 8192 characters is refused", async () => {
  const { get } = await start([]);
  const answer = await get(`/health?x=${"a".repeat(8192)}`);
  expect([answer.status, answer.error.code]).toEqual([414, "BAD_REQUEST"]);
});
