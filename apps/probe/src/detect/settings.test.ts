import { expect, test } from "vitest";
import { GuardSettings, guardsPart, withPushed } from "./settings.ts";

const file = GuardSettings.parse({
  dhcp_servers: ["10.0.0.1"], exceptions: [{ mac: "02:00:00:00:00:09", reason: "a test bench" }], learning_minutes: 10,
});

test("without a part of the collector's the file's settings count", () => {
  expect(withPushed(file)).toEqual(file);
  expect(withPushed(file, {})).toEqual(file);
});

test("the collector's lists are added to the file's, and its times count", () => {
  const exception = { kind: "arp_spoofing", ip: "10.0.0.0/24", reason: "a cluster" };
  expect(withPushed(file, { dhcp_servers: ["10.0.0.1", "10.0.0.2"], routers: ["10.0.0.3"], exceptions: [exception], learning_minutes: 5, quiet_seconds: 60 }))
    .toEqual({
      ...file, dhcp_servers: ["10.0.0.1", "10.0.0.2"], routers: ["10.0.0.3"], exceptions: [...file.exceptions, exception], learning_minutes: 5,
      quiet_seconds: 60,
    });
});

test.each([
  [true, true, true], [true, false, false], [false, true, false], [false, false, false],
])("the file's %s and the collector's %s make %s, of sending and of watching", (own, pushed, both) => {
  const { active, enabled } = withPushed({ ...file, active: own, enabled: own }, { active: pushed, enabled: pushed });
  expect([active, enabled]).toEqual([both, both]);
});

test.each([[false, undefined, false], [false, true, true], [true, false, true], [false, false, false]])(
  "gateways roam by the file's %s and the collector's %s: %s", (own, pushed, both) => {
    const part = pushed === undefined ? {} : { roaming_gateways: pushed };
    expect(withPushed({ ...file, roaming_gateways: own }, part).roaming_gateways).toBe(both);
    expect(guardsPart.parse({ guards: part })).toEqual({ guards: part });
  });

test("an exception of a kind that this probe does not know is read, and one that would match everything is not", () => {
  const read = (exception: object) => guardsPart.safeParse({ guards: { exceptions: [exception] } }).success;
  expect([read({ kind: "of_the_future" }), read({ reason: "all" }), read({ mac: "nonsense" })]).toEqual([true, false, false]);
});
