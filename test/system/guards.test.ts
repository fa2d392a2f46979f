import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { EVENTS } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GuardsWatch, watchGuards } from "../bench/guards-watch.ts";
import { PROBE_BOX } from "../lab/host-plan.ts";
import { letHostsTalk } from "../lab/scenarios/let-hosts-talk.ts";
import { startScenario } from "../lab/scenarios/run-scenario.ts";
import { createVariant } from "../lab/scenarios/scenario.ts";
import { SCENARIO_LAN, SCENARIOS } from "../lab/scenarios/scenarios.ts";
import { tryCommand } from "../lab/run-command.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { PROBE } from "./deployment.ts";
import { openSite, type Site } from "./site.ts";

const LEARNING_MS = 15_000;
const SETTINGS = `[guards]\nlearning_minutes = ${LEARNING_MS / 60_000}\nquiet_seconds = 6\n`;
/** To a replay the probe is a host like any other, and one that looks for hosts. */
const OF_REPLAY = `${SETTINGS}[[guards.exceptions]]\nkind = "address_scan"\nmac = "${PROBE_BOX.mac}"\nreason = "the probe itself"\n`;
const CHOSEN = ["arpspoof", "rogue-dhcp", "fake-uplink-lldp", "stp-port"];

interface Raised {
  readonly kind: string;
  readonly subject: string;
  readonly severity: string;
}

describe.skipIf(!canMakeLabs())("attacks on a LAN", () => {
  let site: Site;
  let watch: GuardsWatch;
  let folder: string;
  let endRecording: () => Promise<void>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "lanthorn-guards-"));
    site = await openSite({ hosts: SCENARIO_LAN, events: ["rogue_detected"], probeToml: SETTINGS });
    watch = watchGuards(site.frames);
    endRecording = await record(site, join(folder, "all.pcap"));
    await letHostsTalk(site.lab, LEARNING_MS + 3000);
  });
  afterAll(async () => {
    watch?.close();
    await endRecording?.();
    await site?.close();
    rmSync(folder, { recursive: true });
  });

  test("raise one incident each while they last, and a replay of what the probe heard tells the same", async () => {
    expect(watch.incidents()).toEqual([]);
    for (const [index, scenario] of SCENARIOS.filter(({ name }) => CHOSEN.includes(name)).entries()) {
      const running = await startScenario(site.lab, scenario, createVariant(index, 0));
      await waitFor(`an incident of ${scenario.name}`, () => watch.incidents()[index] ?? null);
      await pause(1500);
      await running.stop();
      expect([scenario.name, await watch.untilOver(() => watch.incidents(), 60_000)]).toEqual([scenario.name, []]);
      expect(scenario.guards).toContain(watch.incidents()[index]?.kind);
    }
    expect(watch.incidents()).toHaveLength(CHOSEN.length);
    await endRecording();
    const live = watch.incidents().map(({ kind, subject, severity }): Raised => ({ kind, subject, severity }));
    expect(await replay(join(folder, "all.pcap"), join(folder, "replay.toml"))).toEqual(live);
  });
});

/** @returns Ends it. */
async function record({ lab }: Site, file: string): Promise<() => Promise<void>> {
  const tcpdump = lab.packages.command("tcpdump");
  const { path, args } = lab.inside("probe", tcpdump.path, ["-Z", "root", "-i", PROBE_BOX.lanInterface, "-n", "-U", "-w", file]);
  const child = spawn(path, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...tcpdump.env } });
  const ended = new Promise((resolve) => void child.once("exit", resolve));
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await waitFor("tcpdump to listen", () => said.includes("listening") || null);
  return async () => {
    child.kill("SIGTERM");
    await ended;
  };
}

/** @returns What begins, without information. */
async function replay(file: string, settings: string): Promise<readonly Raised[]> {
  writeFileSync(settings, OF_REPLAY);
  const { code, stdout, stderr } = await tryCommand(process.execPath, [PROBE, "replay", file, "--json", "--settings", settings]);
  expect([code, stderr.includes("frames_per_second")]).toEqual([0, true]);
  const begun = new Set<string>();
  return stdout.trim().split("\n").map((line) => JSON.parse(line) as { readonly type: string; readonly data: unknown }).flatMap(({ type, data }) => {
    if (type !== "rogue_detected") return [];
    const { kind, subject = "", severity, state } = EVENTS.rogue_detected.data.parse(data);
    if (severity === "info") return [];
    const key = `${kind} ${subject}`;
    if (state === "ended" || begun.has(key)) return [];
    begun.add(key);
    return [{ kind, subject, severity }];
  });
}
