import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EVENTS } from "@lanthorn/contract";
import { alertIdOf } from "@lanthorn/runtime";
import { unpackDebianPackages } from "../lab/debian-packages.ts";
import { PROBE_BOX } from "../lab/host-plan.ts";
import { tryCommand } from "../lab/run-command.ts";
import { letHostsTalk } from "../lab/scenarios/let-hosts-talk.ts";
import { startScenario } from "../lab/scenarios/run-scenario.ts";
import { createVariant, type Scenario } from "../lab/scenarios/scenario.ts";
import { SCENARIO_LAN } from "../lab/scenarios/scenarios.ts";
import { waitFor } from "../lab/wait-for.ts";
import { openSite, type Site } from "./site.ts";

/** What became of alerts that were raised in the lab. */
export interface EvidenceResult {
  readonly alerts: number;
  /** Files, and of them those in which tshark finds the alert's frame with its comment. */
  readonly files: number;
  readonly marked: number;
  /** Of those, how many have frames of the device ten seconds before it or earlier. */
  readonly with_ten_seconds_before: number;
  /** Files of which tshark says anything but what is in them. */
  readonly warnings: number;
}

const LEARNING_MS = 15_000;
/** Each alert is over before the next one begins: a guard takes several at once for one. */
const EVERY_MS = 5000;
const TALKS_MS = 13_000;

/** The part `[traffic]` and the guards of a probe that reads all traffic of the lab's LAN. */
export const EVIDENCE_SETTINGS = `[guards]\nlearning_minutes = ${LEARNING_MS / 60_000}\nquiet_seconds = 1\n[traffic]\ninterfaces = ["${PROBE_BOX.lanInterface}"]\n`
  + "evidence = { before_seconds = 15, after_seconds = 2 }\ncontinuous = { free_floor_megabytes = 0 }\n";

/** Devices that speak for a while, and then say that they are the LAN's switch: each raises an alert. */
function lateNeighbors(alerts: number): Scenario {
  return {
    name: "late-neighbors", kind: "attack", what: "devices that speak for a while say one after the other that they are the switch", guards: ["neighbor_spoofing"],
    packages: [], seconds: (alerts * EVERY_MS + TALKS_MS) / 1000 + 10,
    hosts: ({ mac }) => [{ mac: mac(0), run: `forge late-neighbors eth0 ${alerts} ${EVERY_MS} ${TALKS_MS}` }],
  };
}

/** Raises alerts one after the other on a LAN of the lab, and looks at the files with tshark. */
export async function runEvidence(alerts: number): Promise<EvidenceResult> {
  const site = await openSite({ hosts: SCENARIO_LAN, events: ["rogue_detected"], probeToml: EVIDENCE_SETTINGS });
  try {
    await site.collector.rest.updateSiteCaptures(site.siteId, { upload: "on_demand" });
    await letHostsTalk(site.lab, LEARNING_MS + 3000);
    const running = await startScenario(site.lab, lateNeighbors(alerts), createVariant(0, 0));
    for (let count = 1; count <= alerts; count += 1) await waitFor(`alert ${count}`, () => alertIdsOf(site).length >= count || null);
    await running.stop();
    const ids = alertIdsOf(site);
    await waitFor("their files", () => ids.every((id) => notesOf(site).some(({ alert_ids: about }) => about.includes(id))) || null);
    return await lookAtFiles(site, ids);
  } finally {
    await site.close();
  }
}

function alertIdsOf({ frames, probeId }: Site): readonly string[] {
  const ids = frames.flatMap((frame) => {
    if (frame.event !== "rogue_detected") return [];
    const { kind, state, incident_id: incident } = EVENTS.rogue_detected.data.parse(frame.data);
    return kind === "neighbor_spoofing" && state === "seen" && incident !== undefined ? [alertIdOf(probeId, incident)] : [];
  });
  return [...new Set(ids)];
}

interface Note {
  readonly recorded: { readonly pcap_id: string; readonly state: string; readonly alert_ids: readonly string[] };
}

/** Files that are whole, with what they are about. */
export function notesOf({ box }: Pick<Site, "box">): readonly Note["recorded"][] {
  const folder = join(box.dataDir, "captures", "files");
  const names = list(folder).filter((name) => name.endsWith(".json"));
  return names.map((name) => (JSON.parse(readFileSync(join(folder, name), "utf8")) as Note).recorded).filter(({ state }) => state === "whole" || state === "cut");
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

async function lookAtFiles(site: Site, ids: readonly string[]): Promise<EvidenceResult> {
  const { path, env } = (await unpackDebianPackages(["tshark"])).command("tshark");
  const notes = notesOf(site);
  const result = { alerts: ids.length, files: 0, marked: 0, with_ten_seconds_before: 0, warnings: 0 };
  for (const id of ids) {
    const note = notes.find(({ alert_ids: about }) => about.includes(id));
    if (!note) continue;
    result.files += 1;
    const file = join(site.box.dataDir, "captures", "files", `${note.pcap_id}.pcapng`);
    const { stdout, stderr } = await tryCommand(path, ["-r", file, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.comment"], { env });
    if (stderr.split("\n").some((line) => line !== "" && !line.startsWith("Running as user"))) result.warnings += 1;
    const rows = stdout.trim().split("\n").map((line) => line.split("\t"));
    const marked = rows.find(([, comment]) => comment?.includes(`lanthorn alert ${id}`));
    if (!marked) continue;
    result.marked += 1;
    if (Number(marked[0]) - Number(rows[0]?.[0]) >= 10) result.with_ten_seconds_before += 1;
  }
  return result;
}
