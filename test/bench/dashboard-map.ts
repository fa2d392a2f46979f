import type { RestClient } from "@lanthorn/client";
import type { ProbeEvent } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { Window } from "../dashboard/browser.ts";
import { logIn } from "../dashboard/pages.ts";
import { waitFor } from "../lab/wait-for.ts";
import type { SimulatedProbe } from "../system/simulated-probe.ts";
import { timeToDrawn } from "./dashboard-pages.ts";
import { enrollProbe } from "./dashboard-probe.ts";
import { SEED_PASSWORD } from "./seeded-collector.ts";

const SWITCHES = 300;
/** Below each switch that has some. */
const BRANCHES = 8;
/** A collector takes 64 switches from each. */
const PROBES = 5;
const RUNS = 5;

/** Milliseconds from the key that leads to the map until all of 300 switches are drawn, each run in a new window. */
export async function measureMap({ url, rest, mqttUrl, open }: {
  readonly url: string; readonly rest: RestClient; readonly mqttUrl: string; readonly open: () => Promise<Window>;
}): Promise<readonly number[]> {
  const probes: SimulatedProbe[] = [];
  try {
    for (let count = 0; count < PROBES; count += 1) probes.push(await enrollProbe(rest, mqttUrl));
    for (let index = 0; index < SWITCHES; index += 1) probes[index % PROBES]?.say(switchReport(index));
    await waitFor("the switches", () => (probes.every((probe) => probe.acknowledged() === SWITCHES / PROBES) ? true : null));
    const taken: number[] = [];
    for (let count = 0; count < RUNS; count += 1) {
      const { page, context } = await open();
      await logIn(page, url, { username: "admin", password: SEED_PASSWORD });
      await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
      await page.keyboard.press("g");
      taken.push(await timeToDrawn(page, "m", { selector: '[aria-label="Map of the links"] [role="button"]', count: SWITCHES }));
      await context.close();
    }
    return taken;
  } finally {
    for (const probe of probes) probe.close();
  }
}

/** A tree: each switch sees the one above it on its uplink. */
function switchReport(index: number): ProbeEvent {
  const above = Math.floor((index - 1) / BRANCHES);
  const port = (name: string, role: "access" | "uplink") => ({ name, alias: "", mac: "" as const, up: true, speed_mbps: 1000, role, mac_count: 1 });
  return { type: "switch_report", occurred_at: toInstant(Date.now()), data: {
    ip: `172.21.${index >> 8}.${(index & 255) || 254}`, answers: true, system_name: `switch-${index}`, system_description: "", object_id: "", engine_id: "", macs: [macOf(index)],
    ports: [port("uplink", "uplink"), port("Gi1/0/1", "access")],
    neighbors: index === 0 ? [] : [{
      port: "uplink", protocol: "lldp", chassis_id: macOf(above), chassis_id_type: "mac", port_id: `Gi1/1/${((index - 1) % BRANCHES) + 1}`, port_description: "", system_name: `switch-${above}`,
      system_description: "", capabilities: ["bridge"], management_addresses: [], vlan_ids: [],
    }],
    hosts: [], addresses: [],
  } };
}

function macOf(index: number): string {
  return `02:00:5e:30:${(index >> 8).toString(16).padStart(2, "0")}:${(index & 255).toString(16).padStart(2, "0")}`;
}
