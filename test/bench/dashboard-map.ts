import type { RestClient } from "@lanthorn/client";
import type { ProbeEvent } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { Window } from "../dashboard/browser.ts";
import { logIn } from "../dashboard/pages.ts";
import { waitFor } from "../lab/wait-for.ts";
import { timeToDrawn } from "./dashboard-pages.ts";
import { enrollProbe } from "./dashboard-probe.ts";
import { SEED_PASSWORD } from "./seeded-collector.ts";

const SWITCHES = 300;
/** Below each switch that has some. */
const BRANCHES = 8;
/** Those that have some below them report them: 38, as an answer of the topology holds the reports of 64 switches at most. */
const REPORTING = Math.ceil((SWITCHES - 1) / BRANCHES);
const RUNS = 5;

/** Milliseconds from the key that leads to the map until all of 300 switches are drawn, each run in a new window. */
export async function measureMap({ url, rest, mqttUrl, open }: {
  readonly url: string; readonly rest: RestClient; readonly mqttUrl: string; readonly open: () => Promise<Window>;
}): Promise<readonly number[]> {
  const probe = await enrollProbe(rest, mqttUrl);
  try {
    for (let index = 0; index < REPORTING; index += 1) probe.say(switchReport(index));
    await waitFor("the switches", () => (probe.acknowledged() === REPORTING ? true : null));
    // What the API leaves out the page cannot draw: it would be waited for without an end.
    await waitFor("300 switches in the topology", async () => ((await rest.readTopology()).nodes.filter(({ kind }) => kind !== "probe").length === SWITCHES ? true : null));
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
    probe.close();
  }
}

/** A tree: a switch sees those below it, each on a port of its own. */
function switchReport(index: number): ProbeEvent {
  const below = Array.from({ length: BRANCHES }, (_, branch) => index * BRANCHES + branch + 1).filter((child) => child < SWITCHES);
  const portTo = (child: number) => `Gi1/1/${child - index * BRANCHES}`;
  const port = (name: string, role: "access" | "uplink") => ({ name, alias: "", mac: "" as const, up: true, speed_mbps: 1000, role, mac_count: 1 });
  return { type: "switch_report", occurred_at: toInstant(Date.now()), data: {
    ip: `172.21.0.${index + 1}`, answers: true, system_name: `switch-${index}`, system_description: "", object_id: "", engine_id: "", macs: [macOf(index)],
    ports: [port("uplink", "uplink"), port("Gi1/0/1", "access"), ...below.map((child) => port(portTo(child), "uplink"))],
    neighbors: below.map((child) => ({
      port: portTo(child), protocol: "lldp", chassis_id: macOf(child), chassis_id_type: "mac", port_id: "uplink", port_description: "", system_name: `switch-${child}`,
      system_description: "", capabilities: ["bridge"], management_addresses: [], vlan_ids: [],
    })),
    hosts: [], addresses: [],
  } };
}

function macOf(index: number): string {
  return `02:00:5e:30:${(index >> 8).toString(16).padStart(2, "0")}:${(index & 255).toString(16).padStart(2, "0")}`;
}
