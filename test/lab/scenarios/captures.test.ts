import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ProbeEvent } from "@lanthorn/contract";
import { silentLog } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { readReplaySettings } from "../../../apps/probe/src/configuration.ts";
import { replayFile } from "../../../apps/probe/src/daemon/replay-file.ts";
import { captureBytesOf, type Scenario } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";

/** Captures begin with the LAN as it was before, for some 17 seconds. */
const LEARNING_MINUTES = 0.25;

const fileOf = (name: string) => fileURLToPath(new URL(`${name}.pcap`, import.meta.url));

async function incidentsOf({ name, dhcpServers = [], routers = [] }: Scenario): Promise<readonly string[]> {
  const events: ProbeEvent[] = [];
  const settings = readReplaySettings(null);
  const guards = { ...settings.guards, learning_minutes: LEARNING_MINUTES, dhcp_servers: [...dhcpServers], routers: [...routers] };
  const { problem } = await replayFile({
    path: fileOf(name), settings: { ...settings, guards }, log: silentLog, vendorOf: () => "", print: (some) => void events.push(...some),
  });
  expect(problem).toBeNull();
  const incidents = events.flatMap(({ type, data }) => (type === "rogue_detected" && data.severity !== "info" ? [`${data.kind} ${data.subject}`] : []));
  return [...new Set(incidents)];
}

test("scenarios have names of their own, and attacks say who must see them", () => {
  const names = SCENARIOS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, kind, guards } of SCENARIOS) {
    expect(name).toMatch(/^[a-z0-9-]{1,28}$/);
    expect([name, guards.length > 0]).toEqual([name, kind === "attack"]);
  }
});

test("each capture is small and belongs to a scenario", () => {
  const files = readdirSync(fileURLToPath(new URL(".", import.meta.url))).filter((file) => file.endsWith(".pcap"));
  expect(files.toSorted()).toEqual(SCENARIOS.map(({ name }) => `${name}.pcap`).toSorted());
  for (const scenario of SCENARIOS) {
    const { size } = statSync(fileOf(scenario.name));
    expect([scenario.name, size <= captureBytesOf(scenario) && size < 200_000]).toEqual([scenario.name, true]);
  }
});

describe("a replay of what is normal raises nothing", () => {
  test.each(SCENARIOS.filter(({ kind }) => kind === "normal"))("$name: $what", async (scenario) => {
    expect(await incidentsOf(scenario)).toEqual([]);
  });
});

describe("a replay of an attack raises one incident of its kind", () => {
  test.each(SCENARIOS.filter(({ kind }) => kind === "attack"))("$name: $what", async (scenario) => {
    const incidents = await incidentsOf(scenario);
    expect(incidents).toHaveLength(1);
    expect(scenario.guards).toContain(incidents[0]?.split(" ")[0]);
  });
});
