import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProbeConfiguration } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCredentials } from "../../apps/probe/src/credentials/credentials.ts";
import { runCommand } from "../lab/run-command.ts";
import { waitFor } from "../lab/wait-for.ts";
import { writeCaptureOfHosts } from "./capture-of-hosts.ts";
import type { Daemon } from "./daemon.ts";
import { type Collector, COLLECTOR, enrollProbe, type ProbeBox, startCollector, startProbe } from "./deployment.ts";

/** Until a probe that says nothing counts as silent. */
const SILENT_AFTER_SECONDS = 12;

/** Without what the machine that runs the tests may have of its own. */
const LIMITS = [
  "cpu_percent", "load_per_core", "memory_used_percent", "disk_used_percent", "temperature_celsius",
].map((name) => `${name} = false`).join(", ");
const HEALTH = `[health]\ninterval_seconds = 5\nlimits = { ${LIMITS} }\n`;

describe("a collector and a probe, each a process of its own", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-credential-delivery-"));
  const box: ProbeBox = { dataDir: join(folder, "probe") };
  const capture = join(folder, "hosts.pcap");
  const probeFile = join(folder, "probe.toml");
  const collectorFile = join(folder, "collector.toml");
  let collector: Collector;
  let probe: Daemon | undefined;
  let [siteId, probeId] = ["", ""];
  let credentialId = "";
  let ports: Readonly<Record<string, string>> = {};
  const macs = writeCaptureOfHosts(capture, 3);

  const bringUp = async () => {
    collector = await startCollector({ dataDir: join(folder, "collector"), host: "127.0.0.1", env: ports, file: collectorFile });
    const portOf = (name: string) => new URL(String(collector.ready[name])).port;
    ports = { LANTHORN_HTTPS_PORT: portOf("https_url"), LANTHORN_MQTT_PORT: portOf("mqtt_url") };
  };
  const bringUpProbe = async () => {
    probe = await startProbe(box, { interface: "none", args: ["--replay", capture, "--config", probeFile] });
  };
  const record = () => collector.rest.readProbe(probeId);
  /** Waits until the probe says that it goes by the newest configuration, and that nothing is wrong with it. */
  const applied = () => waitFor("the newest configuration on the probe", async () => {
    const { revision, applied_revision: now, error } = (await record()).configuration;
    return revision === now && error === null ? revision : null;
  });
  const readOnProbe = (...path: readonly string[]) => JSON.parse(readFileSync(join(box.dataDir, ...path), "utf8")) as unknown;
  const configurationOnProbe = () => ProbeConfiguration.parse(readOnProbe("site-configuration.json"));
  /** What lies on the probe's disk, opened as it does it itself: with the key that only it has. */
  const handed = async () => {
    const identity = readOnProbe("identity", "identity.json") as { readonly probe_id: string; readonly private_key: string };
    const credentials = createCredentials({ identity: () => identity });
    expect(await credentials.take(configurationOnProbe().credentials)).toBeNull();
    return credentials.forHost("10.20.0.7");
  };
  const isOnline = () => waitFor("the probe online", async () => ((await record()).state === "online" ? true : null));

  beforeAll(async () => {
    writeFileSync(probeFile, HEALTH);
    writeFileSync(collectorFile, `[probes]\nsilent_after_seconds = ${SILENT_AFTER_SECONDS}\n`);
    await bringUp();
    ({ siteId, probeId } = await enrollProbe(collector, box, "box-1"));
  });

  afterAll(async () => {
    await probe?.kill();
    await collector?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a credential of the vault reaches the probe, which alone can read it", async () => {
    const made = await collector.rest.createCredential({
      type: "snmp", name: "switches", site_ids: [siteId], networks: ["10.20.0.0/24"], secret: { community: "only for this probe" },
    });
    credentialId = made.id;
    await bringUpProbe();
    await isOnline();
    await applied();
    expect(await handed()).toMatchObject([
      { id: credentialId, type: "snmp", networks: ["10.20.0.0/24"], secret: { community: "only for this probe" } },
    ]);
    expect(readFileSync(join(box.dataDir, "site-configuration.json"), "utf8")).not.toContain("only for this probe");
  });

  test("a configuration is pushed and applied", async () => {
    const before = await applied();
    await collector.rest.updateProbeConfiguration(probeId, { sweep: { interval_seconds: 900 }, excluded: ["10.20.0.99"] });
    const after = await applied();
    expect(after).toBeGreaterThan(before);
    const { revision, sweep, excluded } = configurationOnProbe();
    expect([revision, sweep.interval_seconds, excluded.includes("10.20.0.99")]).toEqual([after, 900, true]);
  });

  test("after the sealing key was rotated the probe is handed what changes as before, also by a collector that starts anew", async () => {
    const dataDir = join(folder, "collector");
    const sealingKey = () => readFileSync(join(dataDir, "sealing-key"), "utf8");
    const before = sealingKey();
    const said = await runCommand(process.execPath, [COLLECTOR, "admin", "rotate-sealing-key"], { env: { LANTHORN_DATA_DIR: dataDir } });
    expect(said).toMatch(/[1-9]\d* secrets are sealed with a new key/);
    expect(sealingKey()).not.toBe(before);
    await collector.rest.updateCredential(credentialId, { secret: { community: "after the rotation" } });
    await applied();
    expect(await handed()).toMatchObject([{ secret: { community: "after the rotation" } }]);
    await collector.stop();
    await bringUp();
    await isOnline();
    expect(await collector.rest.revealCredential(credentialId)).toMatchObject({ secret: { community: "after the rotation" } });
    await collector.rest.updateCredential(credentialId, { secret: { community: "after the start" } });
    await applied();
    expect(await handed()).toMatchObject([{ secret: { community: "after the start" } }]);
    await collector.rest.deleteCredential(credentialId);
    await applied();
    expect(await handed()).toEqual([]);
  });

  test("a probe that is killed is one alert and its devices are unknown, until it is back", async () => {
    const silent = async (status: string) => {
      const { data } = await collector.rest.listAlerts({ status });
      return data.filter(({ type }) => type === "probe_silent");
    };
    const states = async () => (await collector.rest.listDevices()).data.map(({ mac, presence_state: state }) => [mac, state]);
    await waitFor("the devices", async () => ((await states()).length === macs.length ? true : null));
    const resolvedBefore = await silent("resolved");
    expect(await silent("open")).toEqual([]);
    await probe?.kill();
    const [alert, ...others] = await waitFor("the alert", async () => {
      const found = await silent("open");
      return found.length > 0 ? found : null;
    });
    expect([alert, others]).toMatchObject([{ source: "health", severity: "high", probe_id: probeId, count: 1 }, []]);
    expect((await record()).state).toBe("silent");
    expect(await states()).toEqual(macs.map((mac) => [mac, "unknown"]));
    expect((await collector.rest.listAlerts({ status: "open" })).data.map(({ type }) => type)).toEqual(["probe_silent"]);

    await bringUpProbe();
    await waitFor("the end of the alert", async () => ((await silent("open")).length === 0 ? true : null));
    const resolved = (await silent("resolved")).filter(({ id }) => !resolvedBefore.some((one) => one.id === id));
    expect(resolved.map(({ id, count }) => [id, count])).toEqual([[alert?.id, 1]]);
    await isOnline();
    await waitFor(
      "devices that are known again", async () => ((await states()).every(([, state]) => state === "online") ? true : null),
    );
  });
});
