import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SWITCH_BOX } from "../lab/host-plan.ts";
import { namesOf } from "../lab/names.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { openSite, type Site } from "./site.ts";

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
  for (const pid of pids) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It is two processes, and one ends with the other.
    }
  }
  return pids.length;
}

describe.skipIf(!canMakeLabs())("a probe at a switch that speaks LLDP and CDP", () => {
  let site: Site;

  beforeAll(async () => {
    site = await openSite({ hosts: ["gateway"], events: ["neighbor_discovered"] });
  });

  afterAll(() => site?.close());

  test("shows the switch, its port and both protocols in the topology", async () => {
    const { nodes, edges, notes } = await waitFor("the switch", async () => {
      const topology = await site.collector.rest.readTopology();
      return topology.edges[0]?.protocols.length === 2 ? topology : null;
    });
    const node = nodes.find(({ kind }) => kind !== "probe");
    // It names itself by its own MAC or by that of a port.
    expect(node).toMatchObject({
      kind: "neighbor", mac: expect.stringMatching(new RegExp(`^${SWITCH_BOX.mac.slice(0, -3)}`)), device_id: null,
    });
    expect(node?.name).toMatch(/^switch/);
    expect(edges).toMatchObject([{ target: node?.id, source_port: site.lab.probe.lanInterface, protocols: ["lldp", "cdp"], state: "up" }]);
    // The first port's, by which the probe's cable comes in.
    expect(edges[0]?.target_port_names).toEqual([
      { protocol: "lldp", port_id: `${SWITCH_BOX.mac.slice(0, -2)}01`, port_description: "port1" },
      { protocol: "cdp", port_id: "port1", port_description: "port1" },
    ]);
    expect(notes.map(({ code }) => code)).toEqual(["access-port-only"]);
  });

  test("is gone when it is silent for its time to live, and was reported once for each protocol", async () => {
    expect(killLldpd(site.labId)).toBeGreaterThan(0);
    await waitFor("nobody", async () => ((await site.collector.rest.readTopology()).edges.length === 0 ? true : null));
    const { edges } = await site.collector.rest.readTopology({ include_gone: true });
    expect(edges).toMatchObject([{ state: "gone" }]);
    expect(site.frames.map(({ data }) => String(data["protocol"])).toSorted()).toEqual(["cdp", "lldp"]);
  });
});
