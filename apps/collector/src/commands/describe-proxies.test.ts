import { expect, test } from "vitest";
import { describeProxies } from "./describe-proxies.ts";

const listening = (http: string, https: string | null, proxies: readonly string[] = []) => describeProxies({
  trusted_proxies: [...proxies], http: { host: http, port: 0 }, https: { enabled: https !== null, host: https ?? "0.0.0.0", port: 0, names: [] },
});

test("proxies that are named are listed", () => {
  expect(listening("127.0.0.1", "0.0.0.0", ["10.0.0.1", "10.1.0.0/16"])).toContain("10.0.0.1, 10.1.0.0/16");
});

test.each([
  ["127.0.0.1", null, []], ["::1", "localhost", []], ["127.0.0.1", "0.0.0.0", ["0.0.0.0"]],
  ["192.0.2.7", "0.0.0.0", ["192.0.2.7", "0.0.0.0"]], ["gateway.example", null, ["gateway.example"]],
] as const)("without one, a gateway at %s and %s names where a proxy could be in front", (http, https, open) => {
  const line = listening(http, https);
  for (const host of ["127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.7", "gateway.example"]) {
    expect([host, line.includes(host)]).toEqual([host, (open as readonly string[]).includes(host)]);
  }
});
