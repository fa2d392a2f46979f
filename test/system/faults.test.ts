import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HealthResponse, Probe } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLab, type Lab } from "../lab/lab.ts";
import { tryCommand } from "../lab/run-command.ts";
import { canMakeLabs, createLabId } from "../lab/testing.ts";
import type { Daemon } from "./daemon.ts";
import { type Collector, COLLECTOR, enrollProbe, PROBE, type ProbeBox, runProbeCommand, startCollector, startProbe } from "./deployment.ts";
import { createSmallDisk, type SmallDisk } from "./small-disk.ts";
import { waitFor } from "../lab/wait-for.ts";

describe.each([
  ["lanthorn-probe", PROBE, 'interfaces = ["eth0"]\n[sweep]\npackets_per_second = "fast"\n', ["interfaces", "sweep.packets_per_second"]],
  ["lanthorn-collector", COLLECTOR, "[http]\nprot = 8080\n[mqtt]\nport = 99999\n", ["prot", "mqtt.port"]],
])("%s with a configuration that is wrong", (name, script, text, keys) => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-faults-"));
  const file = join(folder, "lanthorn.toml");
  const dataDir = join(folder, "data");
  const run = (args: readonly string[]) => tryCommand(process.execPath, [script, ...args], { env: { LANTHORN_DATA_DIR: dataDir } });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([[["run"]], [["--check-config"]]])("ends %j with one message that names every key, and has touched nothing", async (args) => {
    writeFileSync(file, text);
    const { code, stdout, stderr } = await run([...args, "--config", file]);
    expect([code, stdout, stderr.startsWith(`${name}: `)]).toEqual([1, "", true]);
    for (const key of [file, ...keys]) expect(stderr).toContain(key);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(existsSync(dataDir)).toBe(false);
  });

  test("ends for a file that is not there, or is no TOML, with its name", async () => {
    writeFileSync(file, "interface = \n");
    for (const path of [file, join(folder, "none.toml")]) {
      const { code, stderr } = await run(["--check-config", "--config", path]);
      expect([code, stderr.startsWith(`${name}: `), stderr.includes(path)]).toEqual([1, true, true]);
      expect(stderr).not.toMatch(/^ +at /m);
    }
  });
});

interface Status {
  readonly collector: { readonly connected: boolean; readonly problem: string | null };
  readonly interface: { readonly name: string; readonly up: boolean; readonly problem: string | null };
  readonly queue: { readonly events: number; readonly writable: boolean };
  readonly alerts: readonly string[];
}

describe.skipIf(!canMakeLabs())("a probe and a collector", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-faults-"));
  const configuration = join(folder, "probe.toml");
  const password = "a password for this test";
  let lab: Lab;
  let disks: { readonly collector: SmallDisk; readonly probe: SmallDisk };
  let collector: Collector;
  let ports: Readonly<Record<string, string>> = { LANTHORN_ADMIN_PASSWORD: password };
  let box: ProbeBox;
  let probe: Daemon;
  let probeId = "";

  const bringUpCollector = async () => {
    const { path: dataDir, through } = disks.collector;
    collector = await startCollector({ dataDir, through, host: lab.collectorAddress, env: ports });
    const portOf = (name: string) => new URL(String(collector.ready[name])).port;
    ports = { ...ports, LANTHORN_HTTPS_PORT: portOf("https_url"), LANTHORN_MQTT_PORT: portOf("mqtt_url") };
  };
  const bringUpProbe = async (interfaceName: string) => {
    probe = await startProbe(box, { interface: interfaceName, args: ["--config", configuration] });
  };
  const status = async (): Promise<Status> => JSON.parse((await runProbeCommand(box, ["status", "--json"])).stdout) as Status;
  /** Waits for what the running probe says of itself. */
  const says = (what: string, holds: (now: Status) => boolean) => waitFor(what, async () => {
    const now = await status();
    return holds(now) ? now : null;
  });
  const isKnown = (mac: string) => waitFor(`the device ${mac}`, async () => {
    const { data } = await collector.rest.listDevices({ search: mac });
    return data.find((device) => device.mac === mac) ?? null;
  });
  const record = async (): Promise<Probe | undefined> => (await collector.rest.listProbes()).data.find(({ id }) => id === probeId);
  const health = async () => (await (await fetch(`${collector.url}/health`)).json()) as HealthResponse;
  const link = (...args: readonly string[]) => tryCommand("ip", ["-n", lab.probe.namespace, "link", "set", "dev", ...args]);
  const isAlive = () => existsSync(`/proc/${probe.pid}`) && existsSync(`/proc/${collector.pid}`);

  beforeAll(async () => {
    lab = await createLab({ id: createLabId(), hosts: ["gateway", "web"] });
    disks = { collector: await createSmallDisk(join(folder, "collector"), 16), probe: await createSmallDisk(join(folder, "probe"), 8) };
    writeFileSync(configuration, "[health]\ninterval_seconds = 5\nsamples = 1\n");
    box = { dataDir: disks.probe.path, namespace: lab.probe.namespace, through: disks.probe.through };
    await bringUpCollector();
    ({ probeId } = await enrollProbe(collector, box, "faulty"));
  });

  afterAll(async () => {
    await probe?.kill();
    await collector?.kill();
    await disks?.probe.close();
    await disks?.collector.close();
    await lab?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("the probe stays up without its collector, says so, and delivers when it is there", async () => {
    await collector.stop();
    await bringUpProbe("lan0");
    const isRefused = (now: Status) => !now.collector.connected && (now.collector.problem ?? "").includes("ECONNREFUSED");
    await says("what is wrong, and what is queued", (now) => isRefused(now) && now.queue.events >= 2);
    await bringUpCollector();
    for (const { mac } of (await lab.status()).hosts) await isKnown(mac);
    await says("an empty queue", (now) => now.collector.connected && now.queue.events === 0);
  });

  test("an interface that goes down is reported, and watched again when it is back", async () => {
    await link("lan0", "down");
    const down = await says("an interface that is down", (now) => !now.interface.up);
    expect(down.interface.problem).toContain("lan0");
    await says("the alert", ({ alerts }) => alerts.includes("interface"));
    expect((await record())?.health?.interface).toMatchObject({ name: "lan0", up: false });
    await link("lan0", "up");
    await says("the end of the alert", (now) => now.interface.up && !now.alerts.includes("interface"));
    await isKnown((await lab.join("comeback")).mac);
  });

  test("a full disk of the probe ends nothing: its health tells, and what was found meanwhile arrives when there is room", async () => {
    disks.probe.fill();
    const { mac } = await lab.join("crowded");
    await waitFor("health that tells", async () => ((await record())?.health?.disk.free_bytes === 0 ? true : null));
    expect(isAlive()).toBe(true);
    disks.probe.free();
    await isKnown(mac);
    await says("a disk that takes something", ({ queue, alerts }) => queue.writable && queue.events === 0 && !alerts.includes("disk"));
    expect(isAlive()).toBe(true);
  });

  test("a full disk of the collector ends nothing: its health tells, the probe keeps what it finds and delivers it later", async () => {
    disks.collector.fill();
    const { mac } = await lab.join("patient");
    await waitFor("health that tells", async () => ((await health()).parts["ingest"]?.status === "degraded" ? true : null));
    expect((await fetch(`${collector.url}/health`)).status).toBe(503);
    await says("events that wait", ({ queue }) => queue.events > 0);
    expect((await health()).parts["disk"]).toMatchObject({ status: "degraded", detail: expect.stringMatching(/^0\.0 of /) as string });
    await expect(collector.rest.createSite({ name: "crowded" })).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE", status: 503, details: { reason: "disk-full" },
    });
    // What only reads goes on.
    expect((await collector.rest.listSites()).data.length).toBeGreaterThan(0);
    disks.collector.free();
    expect((await waitFor("a write that is taken", () => collector.rest.createSite({ name: "crowded" }))).name).toBe("crowded");
    await isKnown(mac);
    await waitFor("health that is good again", async () => ((await health()).parts["ingest"]?.status === "ok" ? true : null));
    expect(isAlive()).toBe(true);
  });

  test("the probe stays up without its interface, says so, and begins when it appears", async () => {
    await probe.stop();
    await bringUpProbe("lan1");
    const missing = await says("an interface that is not there", (now) => (now.interface.problem ?? "").includes("no interface lan1"));
    expect(missing.interface).toMatchObject({ name: "lan1", up: false });
    await link("lan0", "down");
    await link("lan0", "name", "lan1");
    await link("lan1", "up");
    await says("an interface that is watched", (now) => now.interface.up && now.interface.problem === null);
    await isKnown((await lab.join("latecomer")).mac);
    expect(await probe.stop()).toBe(0);
    expect(await collector.stop()).toBe(0);
  });
});
