import { spawn } from "node:child_process";
import { once } from "node:events";
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
/** Everything is recorded too: the gaps are to be said in these files. */
const RECORD_ALL = EVIDENCE_SETTINGS.replace(/^continuous = .*$/m, "continuous = { enabled = true, budget_megabytes = 64, free_floor_megabytes = 0 }\n[health]\ninterval_seconds = 5");

/** Sends some 20,000 short datagrams a second to the address of argument 1, until its standard input ends; says then how many it was a second. */
const FLOOD = `
  const socket = require("node:dgram").createSocket("udp4");
  const datagram = Buffer.alloc(18, 7);
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    for (let n = 0; n < 40; n += 1) socket.send(datagram, 9, process.argv[1], () => (sent += 1));
  }, 2);
  process.stdin.resume().once("end", () => {
    clearInterval(timer);
    socket.close();
    process.stdout.write(String(Math.round(sent / (performance.now() - startedAt) * 1000)));
  });
`;

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
    site = await openSite({ hosts: ["gateway", "web", "laptop"], probeToml: RECORD_ALL });
    await site.collector.rest.updateSiteCaptures(site.siteId, { upload: "on_demand" });
    // What others send to each other reaches the probe, as on a mirror port.
    await prepareLan(site.lab);
    await waitFor("the traffic process", () => childOf(site) !== null && linesOf(site, "reading all traffic") > 0 ? true : null);
  });
  afterAll(() => site?.close());

  test(`it runs again after each of ${KILLS} kills, under load; no half-written file is there, and the probe goes on`, async () => {
    const startCapture = (seconds: number) => site.collector.rest.startPcap({ site_id: site.siteId, probe_id: site.probeId, interface: null, filter: "", seconds });
    const { path, args } = site.lab.inside("web", process.execPath, ["-e", FLOOD, PROBE_BOX.lanAddress]);
    const flood = spawn(path, args, { stdio: ["pipe", "pipe", "inherit"] });
    const flooded = once(flood.stdout, "data");
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
    const traffic = await waitFor("a report of all kills", async () => {
      const [probe] = (await site.collector.rest.listProbes()).data;
      const now = probe?.health?.traffic;
      return now && now.restarts >= KILLS && now.gap?.to ? now : null;
    });
    flood.stdin.end();
    const framesPerSecond = Number(await flooded);
    process.stdout.write(`${JSON.stringify({ kills: KILLS, slowest_restart_ms: Math.max(...slowest), frames_per_second: framesPerSecond })}\n`);
    expect(traffic.gap).toMatchObject({ reason: expect.stringContaining("SIGKILL") as string });
    // 20,000 where a processor is free for it.
    expect(framesPerSecond).toBeGreaterThan(1000);
    expect(Math.max(...slowest)).toBeLessThan(30_000);
    const halfWritten = () => readdirSync(join(site.box.dataDir, "captures", "files")).filter((name) => name.endsWith(".part"));
    await site.probe().stop();
    if (halfWritten().length > 0) {
      // A busy disk kept it from closing them in the time that it has: the next start puts them in order.
      await site.startProbe();
      await waitFor("files in order", () => (halfWritten().length === 0 ? true : null));
      await site.probe().stop();
    }
    const tshark = (await unpackDebianPackages(["tshark"])).command("tshark");
    const notes = notesOf(site);
    expect(notes.length).toBeGreaterThan(0);
    expect(halfWritten()).toEqual([]);
    for (const { pcap_id: id } of notes) {
      const file = join(site.box.dataDir, "captures", "files", `${id}.pcapng`);
      expect(await tryCommand(tshark.path, ["-r", file, "-c", "1", "-T", "fields", "-e", "frame.number"], { env: tshark.env })).toMatchObject({ code: 0, stdout: "1\n" });
    }
    const recordedAll = join(site.box.dataDir, "captures", "continuous");
    const said = readdirSync(recordedAll).filter((name) => name.includes(".pcapng"))
      .flatMap((name) => /Before it nothing was recorded from (\S+) to \S+: [^.]*SIGKILL/.exec(readFileSync(join(recordedAll, name), "latin1").slice(0, 4096))?.[1] ?? []);
    expect(said).toContain(traffic.gap?.from);
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
