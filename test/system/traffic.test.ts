import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unpackDebianPackages } from "../lab/debian-packages.ts";
import { PROBE_BOX } from "../lab/host-plan.ts";
import { tryCommand } from "../lab/run-command.ts";
import { prepareLan } from "../lab/scenarios/run-scenario.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { EVIDENCE_SETTINGS, notesOf, runEvidence } from "./evidence-run.ts";
import { openSite, type Site } from "./site.ts";

const KILLS = 20;

describe.skipIf(!canMakeLabs())("the traffic process", () => {
  test("writes a file about each alert, with its frame marked and what was before it", async () => {
    const result = await runEvidence(3);
    expect(result.alerts).toBeGreaterThanOrEqual(3);
    expect(result).toEqual({
      alerts: result.alerts, files: result.alerts, marked: result.alerts, with_ten_seconds_before: result.alerts, warnings: 0,
    });
  });
});

describe.skipIf(!canMakeLabs())("while the traffic process is killed and its interface goes away", () => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite({ hosts: ["gateway", "web", "laptop"], probeToml: EVIDENCE_SETTINGS });
    await site.collector.rest.updateSiteCaptures(site.siteId, { upload: "on_demand" });
    // What others send to each other reaches the probe, as on a mirror port.
    await prepareLan(site.lab);
    await waitFor("the traffic process", () => childOf(site) !== null && linesOf(site, "reading all traffic") > 0 ? true : null);
  });
  afterAll(() => site?.close(), 60_000);

  test(`it runs again after each of ${KILLS} kills, under load; no half-written file is there, and the probe goes on`, async () => {
    const startCapture = (seconds: number) => site.collector.rest.startPcap({ site_id: site.siteId, probe_id: site.probeId, interface: null, filter: "", seconds });
    const { path, env } = site.lab.packages.command("ping");
    const load = site.lab.exec("web", path, ["-i", "0.002", "-q", "-w", "30", "10.77.0.1"], { env });
    const slowest: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = await waitFor("the process", () => childOf(site));
      const read = linesOf(site, "reading all traffic");
      await startCapture(60).catch(() => undefined);
      const killedAt = performance.now();
      process.kill(child, "SIGKILL");
      await waitFor("it to read again", () => (linesOf(site, "reading all traffic") > read ? true : null), { everyMs: 20 });
      slowest.push(Math.round(performance.now() - killedAt));
    }
    await startCapture(2);
    await waitFor("a file that is whole", () => (notesOf(site).some(({ state }) => state === "whole") ? true : null));
    await load;
    process.stdout.write(`${JSON.stringify({ kills: KILLS, slowest_restart_ms: Math.max(...slowest) })}\n`);
    expect(Math.max(...slowest)).toBeLessThan(30_000);
    await site.probe().stop();
    const tshark = (await unpackDebianPackages(["tshark"])).command("tshark");
    const notes = notesOf(site);
    expect(notes.length).toBeGreaterThan(0);
    expect(readdirSync(join(site.box.dataDir, "captures", "files")).filter((name) => name.endsWith(".part"))).toEqual([]);
    for (const { pcap_id: id } of notes) {
      const file = join(site.box.dataDir, "captures", "files", `${id}.pcapng`);
      expect(await tryCommand(tshark.path, ["-r", file, "-c", "1", "-T", "fields", "-e", "frame.number"], { env: tshark.env })).toMatchObject({ code: 0, stdout: "1\n" });
    }
    await site.startProbe();
    const known = (await site.collector.rest.listDevices()).meta.total;
    await site.lab.attach({ name: "newcomer", mac: "02:55:00:00:00:01", addresses: ["10.77.0.90/24"], daemons: [] });
    await waitFor("a new host", async () => ((await site.collector.rest.listDevices()).meta.total > known ? true : null));
  });

  test("it reads again when its interface was down and comes back", async () => {
    await waitFor("the process", () => childOf(site));
    const read = linesOf(site, "reading all traffic");
    const ip = site.lab.packages.command("ip");
    await site.lab.exec("probe", ip.path, ["link", "set", PROBE_BOX.lanInterface, "down"], { env: ip.env });
    await waitFor("the loss", () => (linesOf(site, "this interface's traffic is not read") > 0 ? true : null));
    const child = childOf(site);
    await site.lab.exec("probe", ip.path, ["link", "set", PROBE_BOX.lanInterface, "up"], { env: ip.env });
    await waitFor("it to read again", () => (linesOf(site, "reading all traffic") > read ? true : null));
    expect(childOf(site)).toBe(child);
  });
});

/** The process of the probe that reads traffic; null while there is none. */
function childOf(site: Site): number | null {
  const { pid } = site.probe();
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ").filter((text) => text !== "").map(Number);
  return children.find((child) => readFileSync(`/proc/${child}/cmdline`, "latin1").includes("\0traffic\0")) ?? null;
}

function linesOf(site: Site, text: string): number {
  return readFileSync(join(site.box.dataDir, "probe.log"), "utf8").split("\n").filter((line) => line.includes(text)).length;
}
