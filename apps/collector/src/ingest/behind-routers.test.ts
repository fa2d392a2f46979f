import { describe, expect, test } from "vitest";
import { hostState } from "./testing/bench.ts";
import { at, devices, found, type Host, logged, macs, makeForEachTest, offline, online, send } from "./testing/keyed-hosts.ts";

makeForEachTest();

/** As a probe on the other side of a router sees it, and as one on its own link does. */
const far: Host = { ip: "192.0.2.70", mac: "" };
const near: Host = { ip: far.ip, mac: "00:1b:21:00:00:70" };

describe("a host that one probe knows by its address and another by its MAC", () => {
  test("is one device, whoever sees it first", async () => {
    await send(found(far), found(near, 60), online(far, 70));
    expect(await macs()).toEqual([[near.mac]]);
    const [other, otherFar] = [{ ip: "192.0.2.71", mac: "00:1b:21:00:00:71" }, { ip: "192.0.2.71", mac: "" }];
    await send(found(other, 100), found(otherFar, 160), online(otherFar, 170));
    expect(await macs()).toEqual([[near.mac], [other.mac]]);
  });

  test.each([
    [[found(far), found(near, 60)]], [[found(near), found(far, 60)]],
  ])("is by its address whoever has that now", async (events) => {
    for (const event of events) await send(event);
    const next: Host = { ip: far.ip, mac: "00:1b:21:00:00:72" };
    for (const event of [found({ ...near, ip: "192.0.2.99" }, 100), found(next, 110), online(far, 120), offline(far, 400, 120)]) {
      await send(event);
    }
    expect((await devices()).map(({ mac, ip, presence_state: state }) => [mac, ip, state])).toEqual([
      [near.mac, "192.0.2.99", "online"], [next.mac, far.ip, "offline"],
    ]);
  });

  test("stays listed by the address that its own link's probe says", async () => {
    await send(found(near));
    const addresses = [near.ip, "192.0.2.80"];
    await send({ type: "host_changed", occurred_at: at(10), data: { ...hostState(near, at(10)), addresses, changed: ["addresses"] } });
    await send(found({ ip: "192.0.2.80", mac: "" }, 20));
    expect((await devices()).map(({ mac, ip }) => [mac, ip])).toEqual([[near.mac, near.ip]]);
  });

  test("is not away for those who see it, because a way to it is", async () => {
    const report = (seconds: number) => ({ type: "presence_report" as const, occurred_at: at(seconds),
      data: { hosts: [{ ip: near.ip, mac: near.mac, last_seen_at: at(seconds), presence_state: "online" as const }] } });
    for (const event of [found(near), found(far, 1), report(300), offline(far, 330, 2)]) await send(event);
    expect(await devices()).toMatchObject([{ presence_state: "online", is_online: 1 }]);
    expect((await logged()).map(({ type }) => type)).not.toContain("host_offline");
    await send(online(far, 400));
    await send(offline(far, 800, 400));
    expect(await devices()).toMatchObject([{ presence_state: "offline", is_online: 0 }]);
    await send(report(860));
    expect(await devices()).toMatchObject([{ presence_state: "online", is_online: 1 }]);
  });
});
