import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLiveClient } from "@lanthorn/client";
import type { Device, StreamFrame } from "@lanthorn/contract";
import { createBackoff, systemClock } from "@lanthorn/runtime";
import ouiData from "oui-data" with { type: "json" };
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createLab, type Lab } from "../lab/lab.ts";
import type { Daemon } from "./daemon.ts";
import { type Collector, enrollProbe, type ProbeBox, startCollector, startProbe } from "./deployment.ts";
import { waitFor } from "./wait-for.ts";

const vendors = ouiData as Readonly<Record<string, string>>;

/** The registry's own answer: the longest block that holds the MAC. */
function registeredVendor(mac: string): string {
  const digits = mac.replaceAll(":", "").toUpperCase();
  const entry = [9, 7, 6].map((length) => vendors[digits.slice(0, length)]).find((value) => value !== undefined);
  return entry?.split("\n")[0]?.trim() ?? "";
}

describe.skipIf(process.getuid?.() !== 0)("a probe on a LAN of real hosts", () => {
  let folder: string;
  let lab: Lab;
  let collector: Collector;
  let box: ProbeBox;
  let probe: Daemon;
  let siteId: string;
  const frames: StreamFrame[] = [];
  let live: { close(): void };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "lanthorn-main-job-"));
    lab = await createLab({ id: "mainjob" });
    collector = await startCollector({ dataDir: join(folder, "collector"), host: lab.collectorAddress });
    box = { dataDir: join(folder, "probe"), namespace: lab.probe.namespace };
    ({ siteId } = await enrollProbe(collector, box, "site-a"));
    live = createLiveClient({
      url: collector.url, token: () => collector.token(), since: 0, clock: systemClock, backoff: createBackoff({ firstMs: 100, longestMs: 1000, random: Math.random }),
      connect: (url) => new WebSocket(url), onFrame: (frame) => frames.push(frame), onClosed: () => undefined,
    });
    probe = await startProbe(box, { interface: lab.probe.lanInterface });
  }, 240_000);

  afterAll(async () => {
    live?.close();
    await probe?.stop();
    await collector?.stop();
    await lab?.close();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const deviceOf = async (mac: string): Promise<Device | null> => {
    const { data } = await collector.rest.listDevices({ search: mac });
    return data.find((device) => device.mac === mac) ?? null;
  };

  test("finds every host with its address, MAC, name and vendor within 30 seconds", async () => {
    const { hosts } = await lab.status();
    expect(hosts.length).toBeGreaterThanOrEqual(12);
    const wanted = hosts.map(({ ip, mac, hostname }) => ({ ip, mac, hostname, vendor: registeredVendor(mac), is_online: true, presence_state: "online", site_id: siteId }));
    let seen: typeof wanted = [];
    const missing = () => wanted.filter((host) => !seen.some((device) => JSON.stringify(device) === JSON.stringify(host)));
    await waitFor("every host", 30_000, async () => {
      const { data } = await collector.rest.listDevices();
      seen = data.map(({ ip, mac, hostname, vendor, is_online, presence_state, site_id }) => ({ ip, mac, hostname, vendor, is_online, presence_state, site_id }));
      return missing().length === 0 ? true : null;
    }).catch(() => null);
    expect(missing().map((host) => ({ host, found: seen.find(({ mac }) => mac === host.mac) }))).toEqual([]);
    expect(seen.filter((device) => !wanted.some((host) => host.mac === device.mac))).toEqual([]);
  }, 60_000);

  test("shows a host's several addresses and both families", async () => {
    const { hosts } = await lab.status();
    const profile = async (name: string) => {
      const device = await deviceOf(hosts.find((host) => host.name === name)?.mac ?? "");
      return (await collector.rest.readDevice(device?.id ?? "")).interfaces.flatMap((entry) => entry.addresses.map(({ ip }) => ip));
    };
    expect(await profile("nas")).toEqual(expect.arrayContaining(["10.77.0.9", "10.77.0.10", "10.77.0.11"]));
    await waitFor("the IPv6 address", 60_000, async () => ((await profile("web")).some((ip) => ip.startsWith("fd")) ? true : null));
  }, 90_000);

  test("tells of a host that joins within five seconds, with its address, MAC and name", async () => {
    const joinedAt = Date.now();
    const host = await lab.join("newhost");
    const frame = await waitFor("host_found", 10_000, () => frames.find(({ event, data }) => event === "host_found" && data["mac"] === host.mac) ?? null);
    expect(frame.data).toMatchObject({ ip: host.ip, mac: host.mac, hostname: "newhost", site_id: siteId });
    expect(Date.parse(frame.timestamp) - joinedAt).toBeLessThan(10_000);
  }, 60_000);

  test("takes a host that leaves as offline after two minutes, and not before", async () => {
    const host = (await lab.status()).hosts.find(({ name }) => name === "newhost");
    const mac = host?.mac ?? "";
    await lab.leave("newhost");
    const leftAt = Date.now();
    await waitFor("offline", 240_000, async () => ((await deviceOf(mac))?.presence_state === "offline" ? true : null));
    expect(Date.now() - leftAt).toBeGreaterThan(115_000);
    expect(await deviceOf(mac)).toMatchObject({ is_online: false });
    const others = await collector.rest.listDevices({ is_online: true });
    expect(others.meta.total).toBe((await lab.status()).hosts.length);
  }, 300_000);

  test("makes its devices unknown when it stops, and known again when it is back", async () => {
    await probe.stop();
    await waitFor("unknown", 10_000, async () => {
      const { data } = await collector.rest.listDevices();
      return data.every((device) => device.presence_state === "unknown") ? true : null;
    });
    const { data } = await collector.rest.listDevices({ is_online: true });
    expect(data.length).toBe((await lab.status()).hosts.length);
    expect(frames.filter(({ data: fields }) => fields["code"] === "probe-silent").length).toBe(1);
    probe = await startProbe(box, { interface: lab.probe.lanInterface });
    await waitFor("online again", 60_000, async () => {
      const after = await collector.rest.listDevices({ is_online: true });
      return after.data.every((device) => device.presence_state === "online") ? true : null;
    });
    const found = frames.filter(({ event }) => event === "host_found").map(({ data: fields }) => fields["mac"]);
    expect(new Set(found).size).toBe(found.length);
  }, 120_000);

  test("orders its frames by sequence, each once", () => {
    const seqs = frames.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
  });
});
