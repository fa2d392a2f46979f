import type { Scan, ScanHost } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BRANCH, HARD_HOSTS, MULTITUDE } from "../lab/hard-hosts.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { openSite, type Site } from "./site.ts";

const macOf = (name: string) => HARD_HOSTS.find((plan) => plan.name === name)?.mac ?? "";
const addressOf = (name: string) => HARD_HOSTS.find((plan) => plan.name === name)?.addresses[0]?.split("/")[0] ?? "";

describe.skipIf(!canMakeLabs())("a probe on a LAN that makes it hard", () => {
  let site: Site;

  beforeAll(async () => {
    site = await openSite({
      hosts: ["gateway", ...HARD_HOSTS.map(({ name }) => name)], events: ["error"], probeToml: `[scan]\nnetworks = ["${BRANCH.subnet}"]\n`,
    });
    await changeSite({ sweep: { enabled: false } });
    await waitFor(
      "the probe's networks", async () => ((await site.collector.rest.listProbes()).data[0]?.state === "online" ? true : null),
    );
  });

  afterAll(() => site?.close());

  async function changeSite(body: object): Promise<void> {
    const answer = await fetch(`${site.collector.url}/api/v1/sites/${site.siteId}`, {
      method: "PUT", headers: { authorization: `Bearer ${site.collector.token()}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
  }
  /** Scans to its end and beyond it, as late answers count. */
  async function scan(target: string, profile: "discovery" | "quick" | "standard"): Promise<{
    readonly scan: Scan; readonly hosts: readonly ScanHost[];
  }> {
    const started = await waitFor("the scan to begin", () => site.collector.rest.startScan({ target, profile }).catch(() => null));
    const ended = await waitFor("the scan's end", async () => {
      const now = await site.collector.rest.readScan(started.id);
      return now.status === "queued" || now.status === "running" ? null : now;
    }, { everyMs: 500 });
    expect([ended.status, ended.error]).toEqual(["completed", null]);
    return { scan: ended, hosts: (await site.collector.rest.listScanResults(started.id, { per_page: 1000 })).data };
  }
  const openPorts = (host: ScanHost | undefined) =>
    host?.ports.filter(({ state }) => state === "open").map(({ port, protocol, service }) => `${port}/${protocol} ${service}`);
  const deviceAt = async (search: string) => {
    const { data } = await site.collector.rest.listDevices({ search });
    const device = data.find(({ ip, mac }) => ip === search || mac === search);
    return device ? site.collector.rest.readDevice(device.id) : null;
  };

  test("takes a tarpit for one, with no port of it", async () => {
    const { scan: ended, hosts } = await scan(addressOf("tarpit"), "quick");
    expect(ended.remarks).toMatchObject([{ code: "tarpit", ip: addressOf("tarpit") }]);
    expect([ended.ports_open, hosts.flatMap(({ ports }) => ports)]).toEqual([0, []]);
    const device = await waitFor("the device's role", async () => {
      const found = await deviceAt(macOf("tarpit"));
      return found?.evidence["role"] ? found : null;
    });
    expect(device.evidence["role"]).toMatchObject([{ value: "tarpit", source: "scan" }]);
    expect(site.frames.map(({ data }) => data["code"])).toContain("tarpit");
  });

  test("takes a router with proxy ARP for one, and finds those who are really behind it", async () => {
    const { scan: ended, hosts } = await scan("10.77.0.192/26", "discovery");
    expect(ended.remarks).toMatchObject([{ code: "proxy-arp", mac: macOf("branch") }]);
    expect(hosts.map(({ ip }) => ip)).toEqual(expect.arrayContaining([...BRANCH.proxiedHosts]));
    // At the first four addresses of a MAC it is believed.
    expect(hosts.length).toBeLessThanOrEqual(BRANCH.proxiedHosts.length + 4);
  });

  test("scans behind a router what the site allows, and nothing else", async () => {
    await expect(site.collector.rest.startScan({ target: BRANCH.subnet, profile: "quick" })).rejects.toMatchObject({ status: 403 });
    await changeSite({ scan_networks: [BRANCH.subnet] });
    const { scan: ended, hosts } = await scan(BRANCH.subnet, "quick");
    const truth = ["10.78.0.1", ...BRANCH.hosts];
    expect([hosts.map(({ ip }) => ip), ended.hosts_up, ended.remarks]).toEqual([truth, truth.length, []]);
    for (const ip of truth) expect(openPorts(hosts.find((host) => host.ip === ip))).toEqual(["22/tcp ssh"]);
    expect(hosts.map(({ port_counts: counts }) => counts?.tcp)).toEqual(
      truth.map(() => ({ open: 1, closed: 99, filtered: 0, "open|filtered": 0 })),
    );
    const device = await waitFor("the device and its name", async () => {
      const found = await deviceAt(BRANCH.hosts[0]);
      return found?.hostname ? found : null;
    });
    expect(device).toMatchObject({ ip: BRANCH.hosts[0], mac: "", hostname: BRANCH.names[0], is_online: true, open_ports: [22] });
  });

  test("finds a DHCP server by what it answers to a request for settings", async () => {
    const { hosts } = await scan("10.77.0.1", "standard");
    const open = openPorts(hosts[0]) ?? [];
    expect(["53/udp", "67/udp"].map((port) => open.some((one) => one.startsWith(`${port} `)))).toEqual([true, true]);
  });

  test("scans by IPv6, an address and the own link's network", async () => {
    const ip = addressOf("ipv6-only");
    const { hosts } = await scan(ip, "quick");
    expect(hosts.map((host) => [host.ip, host.mac, openPorts(host)])).toEqual([[ip, macOf("ipv6-only"), ["22/tcp ssh"]]]);
    const { hosts: all } = await scan("fd4c:616e:7468:77::/64", "discovery");
    expect(all.map((host) => host.ip)).toContain(ip);
    const { hosts: near } = await scan("fe80::/64", "quick");
    const linkLocal = near.find((host) => host.mac === macOf("ipv6-only"));
    expect([linkLocal?.ip.startsWith("fe80:"), openPorts(linkLocal)]).toEqual([true, ["22/tcp ssh"]]);
  });

  test.each([
    ["its address", addressOf("ipv6-services")], ["its link", "fe80::/64"],
  ])("names UDP services by IPv6, by %s, and tells what is closed from what is silent", async (_, target) => {
    const { hosts } = await scan(target, "standard");
    const host = hosts.find(({ mac }) => mac === macOf("ipv6-services"));
    const udp =
      host?.ports.filter(({ protocol, state }) => protocol === "udp" && state === "open").map(({ port, service }) => `${port} ${service}`);
    expect(udp).toEqual(["53 domain", "123 ntp", "161 snmp"]);
    expect(host?.ports.find(({ port, protocol }) => port === 53 && protocol === "udp")?.version).toMatch(/Unbound/i);
    expect(host?.ports.find(({ port }) => port === 161)?.banner).toContain("ipv6-services");
    // Of the profile's twenty ports DHCP's is asked by IPv4 only.
    expect(host?.port_counts?.udp).toEqual({ open: 3, closed: 15, filtered: 0, "open|filtered": 1 });
  });

  test("takes a MAC that answers for a /16 for one device", async () => {
    await site.lab.exec("probe", "ip", ["addr", "add", "10.66.255.1/16", "dev", site.lab.probe.lanInterface]);
    const { scan: ended, hosts } = await scan(MULTITUDE.subnet, "discovery");
    expect(ended.remarks).toMatchObject([{ code: "proxy-arp", mac: macOf("multitude") }]);
    expect(ended.remarks[0]?.addresses).toBeGreaterThan(60_000);
    expect(hosts.length).toBeLessThanOrEqual(8);
    const { data } = await site.collector.rest.listDevices({ search: macOf("multitude") });
    expect(data).toHaveLength(1);
    expect((await site.collector.rest.listDevices()).meta.total).toBeLessThan(20);
  });
});
