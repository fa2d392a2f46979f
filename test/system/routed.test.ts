import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BRANCH } from "../lab/hard-hosts.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { openSite, type Site } from "./site.ts";

const TOML = `[sweep]
interval_seconds = 60
packets_per_second = 2000
routed = ["${BRANCH.subnet}"]
`;
const TRUTH = ["10.78.0.1", ...BRANCH.hosts];

describe.skipIf(!canMakeLabs())("a probe that watches a network behind a router", () => {
  let site: Site;

  beforeAll(async () => {
    site = await openSite({ hosts: ["gateway", "branch"], probeToml: TOML });
    // The collector's own wish is an interval of five minutes, and a rate at which a round takes half a minute.
    const answer = await fetch(`${site.collector.url}/api/v1/sites/${site.siteId}`, {
      method: "PUT", headers: { authorization: `Bearer ${site.collector.token()}`, "content-type": "application/json" },
      body: JSON.stringify({ sweep: { interval_seconds: 60, packets_per_second: 2000 } }),
    });
    expect(answer.status).toBe(200);
  });

  afterAll(() => site?.close());

  const routed = async () => (await site.collector.rest.listDevices()).data.filter(({ ip }) => ip.startsWith("10.78.0."));
  const isOnline = async (ip: string) => (await routed()).find((device) => device.ip === ip)?.is_online;
  /** The first of the hosts is plugged out of the branch's switch, or in again. */
  const plug = (how: "up" | "down") => site.lab.exec("branch", "ip", ["link", "set", "b0", how]);

  test("finds its hosts by schedule alone, tells when one leaves and when it returns, and knows them after a restart", async () => {
    const [left] = BRANCH.hosts;
    await waitFor("the hosts behind the router", async () => ((await routed()).length >= TRUTH.length ? true : null));
    const devices = await routed();
    expect(devices.map(({ ip, mac, is_online }) => `${ip} ${mac} ${is_online}`).toSorted()).toEqual(TRUTH.map((ip) => `${ip}  true`));
    expect((await site.collector.rest.listScans()).data).toEqual([]);
    const named = async () => (await routed()).map(({ ip, hostname }) => `${ip} ${hostname}`).toSorted();
    const names = ["10.78.0.1 ", ...BRANCH.hosts.map((ip, index) => `${ip} ${BRANCH.names[index]}`)];
    await waitFor("their names", async () => ((await named()).join() === names.join() ? true : null));

    await plug("down");
    // Thirteen misses, some fifteen seconds each.
    await waitFor("its leaving", async () => ((await isOnline(left)) === false ? true : null), { everyMs: 1000 });
    expect(await Promise.all(TRUTH.map(isOnline))).toEqual([true, false, true, true]);

    await site.probe().stop();
    await plug("up");
    await site.startProbe();
    await waitFor("its return", async () => ((await isOnline(left)) === true ? true : null), { everyMs: 1000 });
    await waitFor(
      "the others' presence", async () => ((await routed()).every(({ presence_state: state }) => state === "online") ? true : null),
    );
    const found = site.frames.filter(({ event, data }) => event === "host_found" && TRUTH.includes(String(data["ip"])));
    expect([found.length, (await routed()).length]).toEqual([TRUTH.length, TRUTH.length]);
  });
});
