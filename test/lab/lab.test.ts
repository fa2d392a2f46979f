import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTS } from "./host-plan.ts";
import { createLab, type Lab } from "./lab.ts";
import { planOfJoining } from "./names.ts";
import type { LabStatus } from "./status.ts";
import { askByArp, canMakeLabs, createLabId, remainsOf } from "./testing.ts";
import { waitFor } from "./wait-for.ts";

describe.skipIf(!canMakeLabs())("a lab that is up", () => {
  const id = createLabId();
  let lab: Lab;
  let status: LabStatus;

  beforeAll(async () => {
    lab = await createLab({ id });
    status = await lab.status();
  });
  afterAll(async () => {
    await lab?.close();
  });

  test("shows every host of the plan with its MAC and its lowest address", () => {
    expect(status.hosts.map((host) => [host.name, host.mac])).toEqual(HOSTS.map((plan) => [plan.name, plan.mac]));
    const byName = new Map(status.hosts.map((host) => [host.name, host]));
    expect(byName.get("nas")?.ip).toBe("10.77.0.9");
    expect(status.addresses["nas"]?.slice(0, 3)).toEqual(["10.77.0.9", "10.77.0.10", "10.77.0.11"]);
    expect(status.addresses["web"]?.slice(0, 2)).toEqual(["10.77.0.20", "fd4c:616e:7468:77::20"]);
    for (const plan of HOSTS.filter((one) => one.leasesAs !== undefined)) expect(byName.get(plan.name)?.ip).toMatch(/^10\.77\.0\.1\d\d$/);
  });

  test("names hosts as DHCP, DNS or mDNS does, and leaves the others without a name", () => {
    const nameless = status.hosts.filter((host) => host.hostname === "").map((host) => host.name);
    expect(nameless).toEqual(["sensor", "hvac", "late", "meter"]);
    for (const host of status.hosts) expect([host.name, ""]).toContain(host.hostname);
  });

  test("answers ARP for each address with the host's MAC, and for the late one after two seconds", async () => {
    const asked = status.hosts.flatMap((host) => {
      const v4 = (status.addresses[host.name] ?? []).filter((ip) => !ip.includes(":"));
      return v4.map(async (ip) => ({ host, ip, answer: await askByArp(lab, ip) }));
    });
    const answers = await Promise.all(asked);
    for (const { host, ip, answer } of answers) expect(answer?.mac, `${host.name} ${ip}`).toBe(host.mac);
    const late = answers.find(({ host }) => host.name === "late");
    expect(late?.answer?.afterMs).toBeGreaterThan(1950);
  });

  test("has web and SSH servers that answer on every port that it names", async () => {
    const { path, env } = lab.packages.command("busybox");
    const services = status.hosts.flatMap((host) => host.services.map((service) => ({ host, ...service })));
    const web = services.filter((service) => service.name === "http").map(async ({ host, port }) => {
      const fetch = ["timeout", "5", path, "wget", "-q", "-O", "-", `http://${host.ip}:${port}/`];
      const { stdout } = await lab.exec("probe", path, fetch, { env });
      expect(stdout).toContain(`<h1>${host.name}</h1>`);
    });
    const ssh = services.filter((service) => service.name === "ssh").map(async ({ host, port }) => {
      const { stdout } = await lab.exec("probe", path, ["timeout", "2", path, "nc", host.ip, String(port)], { env });
      expect(stdout).toMatch(/^SSH-2\.0-OpenSSH/);
    });
    await Promise.all([...web, ...ssh]);
    expect([web.length, ssh.length]).toEqual([7, 6]);
  });

  test("reaches the machine from the probe's box by the cable between them only", async () => {
    const ping = lab.packages.command("ping");
    const collector = await lab.exec("probe", ping.path, ["-c", "1", "-W", "2", lab.collectorAddress], { env: ping.env });
    expect(collector.code).toBe(0);
    const { stdout } = await lab.exec("probe", "/bin/sh", ["-c", "cat /proc/sys/net/ipv4/ip_forward /etc/resolv.conf; ls /sys/class/net"]);
    expect(stdout.split("\n").filter(Boolean)).toEqual(["0", "nameserver 10.77.0.1", "search lab.test", "lan0", "lo", "wan0"]);
  });

  test("takes in a host, which leases an address and tells its name, and lets it go at once", async () => {
    const started = performance.now();
    const host = await lab.join("NewHost");
    expect(performance.now() - started).toBeLessThan(120_000);
    expect(host).toMatchObject({ name: "newhost", mac: planOfJoining("newhost").mac, hostname: "newhost", services: [] });
    expect((await lab.status()).hosts.at(-1)).toEqual(host);
    expect((await askByArp(lab, host.ip))?.mac).toBe(host.mac);

    await lab.leave("newhost");
    expect(await askByArp(lab, host.ip, 1)).toBeNull();
    expect((await lab.status()).hosts).toEqual(status.hosts);
    expect((await lab.join("newhost")).mac).toBe(host.mac);
    await lab.leave("newhost");
  });

  test("refuses to take in a name twice, a reserved one or none, and to let go of whom it does not have", async () => {
    for (const name of ["web", "WEB", "probe", "switch"]) await expect(lab.join(name), name).rejects.toMatchObject({ code: "duplicate" });
    await expect(lab.join("no host")).rejects.toMatchObject({ code: "bad-name" });
    await expect(lab.leave("nobody")).rejects.toMatchObject({ code: "unknown-host" });
    await expect(lab.leave("probe")).rejects.toMatchObject({ code: "unknown-host" });
  });

  test("is taken as it is when it is brought up again", async () => {
    const again = await createLab({ id });
    expect(again.wasUp).toBe(true);
    expect((await again.status()).hosts).toEqual(status.hosts);
  });

  test("does not meet a second lab on the same machine", async () => {
    const other = await createLab({ id: createLabId(), hosts: ["gateway", "sensor"] });
    try {
      expect((await other.status()).hosts.map((host) => host.name)).toEqual(["gateway", "sensor"]);
      expect(other.collectorAddress).not.toBe(lab.collectorAddress);
      expect(await askByArp(other, "10.77.0.20", 1)).toBeNull();
    } finally {
      await other.close();
    }
    expect(remainsOf(other.id)).toEqual([]);
    expect((await lab.status()).hosts).toEqual(status.hosts);
  });

  test("ends with all that runs in it, and leaves nothing behind", async () => {
    const running = lab.exec("probe", "sleep", ["1000"]);
    await lab.close();
    expect((await running).code).not.toBe(0);
    await waitFor("a machine without the lab", () => remainsOf(id).length === 0 || null).catch(() => undefined);
    expect(remainsOf(id)).toEqual([]);
    await expect(lab.status()).rejects.toMatchObject({ code: "not-up" });
    await lab.close();
  });
});
