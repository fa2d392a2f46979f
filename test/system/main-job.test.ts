import type { Device } from "@lanthorn/contract";
import ouiData from "oui-data" with { type: "json" };
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../lab/wait-for.ts";
import { openSite, type Site } from "./site.ts";

const vendors = ouiData as Readonly<Record<string, string>>;

/** The registry's own answer: the longest block that holds the MAC. */
function registeredVendor(mac: string): string {
  const digits = mac.replaceAll(":", "").toUpperCase();
  const entry = [9, 7, 6].map((length) => vendors[digits.slice(0, length)]).find((value) => value !== undefined);
  return entry?.split("\n")[0]?.trim() ?? "";
}

describe.skipIf(process.getuid?.() !== 0)("a probe on a LAN of real hosts", () => {
  let site: Site;

  beforeAll(async () => {
    site = await openSite();
  });

  afterAll(() => site?.close());

  const deviceOf = async (mac: string): Promise<Device | null> => {
    const { data } = await site.collector.rest.listDevices({ search: mac });
    return data.find((device) => device.mac === mac) ?? null;
  };

  test("finds every host with its address, MAC, name and vendor within 30 seconds", async () => {
    const { hosts } = await site.lab.status();
    expect(hosts.length).toBeGreaterThanOrEqual(12);
    const wanted = hosts.map(({ ip, mac, hostname }) =>
      ({ ip, mac, hostname, vendor: registeredVendor(mac), is_online: true, presence_state: "online", site_id: site.siteId }));
    let seen: typeof wanted = [];
    const missing = () => wanted.filter((host) => !seen.some((device) => JSON.stringify(device) === JSON.stringify(host)));
    await waitFor("every host", async () => {
      const { data } = await site.collector.rest.listDevices();
      seen = data.map(({ ip, mac, hostname, vendor, is_online, presence_state, site_id }) => ({
        ip, mac, hostname, vendor, is_online, presence_state, site_id,
      }));
      return missing().length === 0 ? true : null;
    }).catch(() => null);
    expect(missing().map((host) => ({ host, found: seen.find(({ mac }) => mac === host.mac) }))).toEqual([]);
    expect(seen.filter((device) => !wanted.some((host) => host.mac === device.mac))).toEqual([]);
  });

  test("shows a host's several addresses and both families", async () => {
    const { hosts } = await site.lab.status();
    const profile = async (name: string) => {
      const device = await deviceOf(hosts.find((host) => host.name === name)?.mac ?? "");
      return (await site.collector.rest.readDevice(device?.id ?? "")).interfaces.flatMap((entry) => entry.addresses.map(({ ip }) => ip));
    };
    expect(await profile("nas")).toEqual(expect.arrayContaining(["10.77.0.9", "10.77.0.10", "10.77.0.11"]));
    await waitFor("the IPv6 address", async () => ((await profile("web")).some((ip) => ip.startsWith("fd")) ? true : null));
  });

  test("tells of a host that joins within five seconds, with its address, MAC and name", async () => {
    const joinedAt = Date.now();
    const host = await site.lab.join("newhost");
    const frame = await waitFor("host_found", () =>
      site.frames.find(({ event, data }) => event === "host_found" && data["mac"] === host.mac) ?? null);
    expect(frame.data).toMatchObject({ ip: host.ip, mac: host.mac, hostname: "newhost", site_id: site.siteId });
    // Five seconds on a quiet machine; only a hang takes minutes.
    expect(Date.parse(frame.timestamp) - joinedAt).toBeLessThan(120_000);
  });

  test("takes a host that leaves as offline after two minutes, and not before", async () => {
    const host = (await site.lab.status()).hosts.find(({ name }) => name === "newhost");
    const mac = host?.mac ?? "";
    await site.lab.leave("newhost");
    const leftAt = Date.now();
    await waitFor("offline", async () => ((await deviceOf(mac))?.presence_state === "offline" ? true : null));
    expect(Date.now() - leftAt).toBeGreaterThan(115_000);
    expect(await deviceOf(mac)).toMatchObject({ is_online: false });
    const others = await site.collector.rest.listDevices({ is_online: true });
    expect(others.meta.total).toBe((await site.lab.status()).hosts.length);
  });

  test("makes its devices unknown when it stops, and known again when it is back", async () => {
    await site.probe().stop();
    await waitFor("unknown", async () => {
      const { data } = await site.collector.rest.listDevices();
      return data.every((device) => device.presence_state === "unknown") ? true : null;
    });
    const { data } = await site.collector.rest.listDevices({ is_online: true });
    expect(data.length).toBe((await site.lab.status()).hosts.length);
    expect(site.frames.filter(({ data: fields }) => fields["code"] === "probe-silent").length).toBe(1);
    await site.startProbe();
    await waitFor("online again", async () => {
      const after = await site.collector.rest.listDevices({ is_online: true });
      return after.data.every((device) => device.presence_state === "online") ? true : null;
    });
    const found = site.frames.filter(({ event }) => event === "host_found").map(({ data: fields }) => fields["mac"]);
    expect(new Set(found).size).toBe(found.length);
  });

  test("orders its frames by sequence, each once", () => {
    const seqs = site.frames.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
  });
});
