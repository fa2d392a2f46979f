import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Probe } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLab, type Lab } from "../lab/lab.ts";
import { runCommand } from "../lab/run-command.ts";
import { canMakeLabs, createLabId } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import type { Daemon } from "./daemon.ts";
import { type Collector, enrollProbe, type ProbeBox, startCollector, startProbe } from "./deployment.ts";
import { createSmallDisk, type SmallDisk } from "./small-disk.ts";

const MEBI = 1024 * 1024;
const FLOOR_MEGABYTES = 16;
/** With less free than that, the disk was recorded full. */
const FULL = (FLOOR_MEGABYTES + 20) * MEBI;
const MAX_FLOODS = 20;

/** Sends datagrams of 1,400 bytes to the lab's gateway, as many as make argument 1 in MiB, with a pause after each fiftieth. */
const FLOOD = `
  const socket = require("node:dgram").createSocket("udp4");
  const datagram = Buffer.alloc(1400, 7);
  let left = Math.ceil(Number(process.argv[1]) * 1048576 / 1442);
  const send = () => {
    for (let n = 0; n < 50 && left > 0; n += 1, left -= 1) socket.send(datagram, 9, process.argv[2]);
    if (left > 0) setTimeout(send, 2);
    else socket.close();
  };
  send();
`;

describe.skipIf(!canMakeLabs())("a probe with a disk of 64 MiB that records everything", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-continuous-"));
  let lab: Lab;
  let disk: SmallDisk;
  let collector: Collector;
  let box: ProbeBox;
  let probe: Daemon;
  let probeId = "";
  let siteId = "";

  beforeAll(async () => {
    lab = await createLab({ id: createLabId(), hosts: ["gateway"] });
    disk = await createSmallDisk(join(folder, "probe"), 64);
    const configuration = join(folder, "probe.toml");
    writeFileSync(configuration, `
      [health]
      interval_seconds = 5
      [traffic]
      interfaces = ["lan0"]
      ring_megabytes = 16
      [traffic.continuous]
      enabled = true
      free_floor_megabytes = ${FLOOR_MEGABYTES}
      file_seconds = 5
    `);
    box = { dataDir: disk.path, namespace: lab.probe.namespace, through: disk.through };
    collector = await startCollector({ dataDir: join(folder, "collector"), host: lab.collectorAddress });
    ({ probeId, siteId } = await enrollProbe(collector, box, "recorder"));
    probe = await startProbe(box, { interface: "lan0", args: ["--config", configuration] });
  });

  afterAll(async () => {
    await probe?.kill();
    await collector?.kill();
    await disk?.close();
    await lab?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const record = async (): Promise<Probe | undefined> => (await collector.rest.listProbes()).data.find(({ id }) => id === probeId);
  const continuous = async () => (await record())?.health?.traffic?.continuous ?? null;
  const freeBytes = async () => {
    const [program = "", ...enter] = disk.through;
    return Number((await runCommand(program, [...enter, "df", "-B1", "--output=avail", disk.path])).split("\n")[1]);
  };
  const flood = (megabytes: number) => runCommand("ip", [
    "netns", "exec", lab.probe.namespace, process.execPath, "-e", FLOOD, String(megabytes), lab.dnsServer,
  ]);

  test("is recorded over three times: never below the floor, the newest is there, and it can be exported", async () => {
    await waitFor("frames that are recorded", async () => (((await continuous())?.bytes ?? 0) > 0 ? true : null));
    const looks = { isOver: false, lowest: Number.POSITIVE_INFINITY };
    // A probe that a busy machine leaves little of the processor records little of a flood, and goes on recording in the next one.
    const floodUntilFull = async () => {
      for (let round = 0; round === 0 || (round < MAX_FLOODS && looks.lowest >= FULL); round += 1) await flood(150);
    };
    const flooding = floodUntilFull().finally(() => {
      looks.isOver = true;
    });
    while (!looks.isOver) looks.lowest = Math.min(looks.lowest, await freeBytes());
    await flooding;
    const { lowest } = looks;
    const endedAt = Date.now();
    expect(lowest).toBeGreaterThanOrEqual(FLOOR_MEGABYTES * MEBI);
    expect(lowest).toBeLessThan(FULL);
    const state = await waitFor("what was recorded since", async () => {
      const now = await continuous();
      return now?.to && Date.parse(now.to) > endedAt ? now : null;
    });
    expect(state.problem).toBeNull();
    expect(state.bytes).toBeGreaterThan(10 * MEBI);

    const { id } = await collector.rest.exportPcap({
      site_id: siteId, from: new Date(endedAt - 60_000).toISOString(), to: new Date(endedAt + 60_000).toISOString(), host: lab.dnsServer, filter: "udp port 9",
      bytes: 2 * MEBI,
    });
    const pcap = await waitFor("the export at the collector", async () => {
      const now = await collector.rest.readPcap(id);
      expect(now.state).not.toBe("failed");
      return now.state === "ready" ? now : null;
    });
    expect(pcap.packets).toBeGreaterThan(500);
    expect(await freeBytes()).toBeGreaterThanOrEqual(FLOOR_MEGABYTES * MEBI);
  });
});
