import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLiveClient } from "@lanthorn/client";
import type { StreamFrame } from "@lanthorn/contract";
import { createBackoff, systemClock } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { SWITCH_BOX } from "../lab/host-plan.ts";
import { createLab, type Lab } from "../lab/lab.ts";
import { namesOf } from "../lab/names.ts";
import { canMakeLabs, createLabId } from "../lab/testing.ts";
import type { Daemon } from "./daemon.ts";
import { type Collector, enrollProbe, type ProbeBox, startCollector, startProbe } from "./deployment.ts";
import { waitFor } from "./wait-for.ts";

/** Ends lldpd on the switch as a pulled plug does: without a farewell. */
function killLldpd(id: string): number {
  const namespace = statSync(`/run/netns/${namesOf(id).namespace(SWITCH_BOX.name)}`).ino;
  const isOurs = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/net`) === `net:[${namespace}]` && readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "lldpd";
    } catch {
      return false;
    }
  };
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isOurs(name));
  for (const pid of pids) process.kill(Number(pid), "SIGKILL");
  return pids.length;
}

describe.skipIf(!canMakeLabs())("a probe at a switch that speaks LLDP and CDP", () => {
  const id = createLabId();
  let folder: string;
  let lab: Lab;
  let collector: Collector;
  let box: ProbeBox;
  let probe: Daemon;
  let live: { close(): void };
  const frames: StreamFrame[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "lanthorn-neighbors-"));
    lab = await createLab({ id, hosts: ["gateway"] });
    collector = await startCollector({ dataDir: join(folder, "collector"), host: lab.collectorAddress });
    box = { dataDir: join(folder, "probe"), namespace: lab.probe.namespace };
    await enrollProbe(collector, box, "store-12");
    live = createLiveClient({
      url: collector.url, token: () => collector.token(), since: 0, events: ["neighbor_discovered"], clock: systemClock,
      backoff: createBackoff({ firstMs: 100, longestMs: 1000, random: Math.random }),
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

  test("shows the switch, its port and both protocols in the topology", async () => {
    const { nodes, edges, notes } = await waitFor("the switch", 60_000, async () => {
      const topology = await collector.rest.readTopology();
      return topology.edges[0]?.protocols.length === 2 ? topology : null;
    });
    const node = nodes.find(({ kind }) => kind !== "probe");
    // It names itself by its own MAC or by that of a port.
    expect(node).toMatchObject({ kind: "neighbor", mac: expect.stringMatching(new RegExp(`^${SWITCH_BOX.mac.slice(0, -3)}`)), device_id: null });
    expect(node?.name).toMatch(/^switch/);
    expect(edges).toMatchObject([{ target: node?.id, source_port: lab.probe.lanInterface, protocols: ["lldp", "cdp"], state: "up" }]);
    expect(edges[0]?.target_port_names.map(({ protocol }) => protocol)).toEqual(["lldp", "cdp"]);
    expect(notes.map(({ code }) => code)).toEqual(["access-port-only"]);
  }, 90_000);

  test("takes it for gone when it is silent for its time to live, and told of it once for each protocol", async () => {
    expect(killLldpd(id)).toBeGreaterThan(0);
    await waitFor("nobody", 60_000, async () => ((await collector.rest.readTopology()).edges.length === 0 ? true : null));
    const { edges } = await collector.rest.readTopology({ include_gone: true });
    expect(edges).toMatchObject([{ state: "gone" }]);
    expect(frames.map(({ data }) => String(data["protocol"])).toSorted()).toEqual(["cdp", "lldp"]);
  }, 90_000);
});
