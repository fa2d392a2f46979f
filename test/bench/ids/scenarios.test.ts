import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findSuricata, runSuricata, type Suricata } from "../../lab/suricata.ts";
import type { EveAlert } from "./checks.ts";
import { pcapOf } from "./dialogue.ts";
import { runEngine } from "./engine.ts";
import { type Scenario, SCENARIOS } from "./scenarios.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

const found = await findSuricata();
if (typeof found === "string") console.warn(`SKIPPED: comparison with a real Suricata: ${found}`);
const folder = await mkdtemp(join(tmpdir(), "lanthorn-ids-scenarios-"));
afterAll(() => rm(folder, { recursive: true }));

/** As `Scenario.alerts` writes them. */
function summaryOf(alerts: readonly EveAlert[]): string {
  const counts = new Map<string, number>();
  for (const { alert, direction } of alerts) {
    const key = `${(alert as { readonly signature_id: number }).signature_id}${direction === "to_server" ? ">" : "<"}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => `${key}${count}`).toSorted().join(" ");
}

async function runReference(suricata: Suricata, { rules, frames, isMidstream, isOneSided }: Scenario) {
  await writeFile(join(folder, "a.rules"), `${rules.join("\n")}\n`);
  await writeFile(join(folder, "a.pcap"), pcapOf(frames));
  const args = [...(isMidstream ? ["--set", "stream.midstream=true"] : []), ...(isOneSided ? ["--set", "stream.async-oneside=true"] : [])];
  return runSuricata(suricata, { folder: join(folder, "out"), rules: join(folder, "a.rules"), capture: join(folder, "a.pcap"), args });
}

test.each(SCENARIOS)("$name", ({ rules, frames, isMidstream = false, isOneSided = false, alerts, ours }) => {
  const result = runEngine({ rules: Buffer.from(rules.join("\n")), capture: pcapOf(frames), settings: { ...DEFAULT_SETTINGS, isMidstream, isOneSided } });
  expect(result.refused).toEqual([]);
  expect(summaryOf(result.alerts)).toBe(ours?.alerts ?? alerts);
});

test.runIf(typeof found !== "string").each(SCENARIOS)("a real Suricata says the same: $name", async (scenario) => {
  const { alerts, rules } = await runReference(found as Suricata, scenario);
  expect(rules.loaded).toBe(scenario.rules.length);
  expect(summaryOf(alerts)).toBe(scenario.alerts);
});
