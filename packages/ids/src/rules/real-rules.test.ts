import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseRules } from "./rule-set.ts";

/** Published rules; they lie beside the repository and are no part of it. */
const FOLDER = fileURLToPath(new URL("../../../../../shared/data/ids/", import.meta.url));
const canUnpack = spawnSync("xz", ["--version"]).status === 0 && spawnSync("tar", ["--version"]).status === 0;
const isHere = (name: string) => canUnpack && existsSync(join(FOLDER, name));
const reason = canUnpack ? `there are none in ${FOLDER}` : "xz and tar are not installed";
if (!isHere("et-open.rules.xz") || !isHere("suricata-verify-half.tar.xz")) console.warn(`SKIPPED: published rules: ${reason}`);

function unpack(command: string, args: readonly string[]): Uint8Array {
  const { status, stdout } = spawnSync(command, args, { maxBuffer: 100_000_000 });
  expect(status).toBe(0);
  return new Uint8Array(stdout);
}

/** Refusals by keyword, the most common first. */
function countKeywords(refusals: readonly { readonly keyword: string }[]): string {
  const counts = new Map<string, number>();
  for (const { keyword } of refusals) counts.set(keyword, (counts.get(keyword) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([keyword, count]) => `${keyword} ${count}`).join(", ") || "none";
}

test.runIf(isHere("et-open.rules.xz"))("of a large published set 99 % load, and quickly", () => {
  const bytes = unpack("xz", ["-dc", join(FOLDER, "et-open.rules.xz")]);
  parseRules(bytes.subarray(0, 500_000));
  const before = process.cpuUsage();
  const { rules, refusals, refusedCount, unsetBits } = parseRules(bytes);
  const { user } = process.cpuUsage(before);
  console.log(`${rules.length} rules in ${Math.round(user / 1000)} ms of processor time; refused: ${countKeywords(refusals)}; bits never set: ${unsetBits.length}`);
  expect(rules.length / (rules.length + refusedCount)).toBeGreaterThan(0.99);
  expect(user).toBeLessThan(2_000_000);
  expect(rules.filter(({ techniques }) => techniques.length > 0).length).toBeGreaterThan(rules.length * 0.3);
});

test.runIf(isHere("suricata-verify-half.tar.xz"))("all rules of the verification cases load", () => {
  const bytes = unpack("tar", ["-xJOf", join(FOLDER, "suricata-verify-half.tar.xz"), "--wildcards", "*.rules"]);
  // One file after the other: ids come again and again, and the last line of a file may have no end.
  const lines = Buffer.from(bytes).toString("latin1").replaceAll(/\\\r?\n/g, "").replaceAll(/\)(alert|pass|drop) /g, ")\n$1 ").split("\n").filter((line) => /^\s*(?:alert|pass|drop|reject)\s/.test(line));
  const results = lines.map((line) => parseRules(new Uint8Array(Buffer.from(line, "latin1"))));
  const refusals = results.flatMap((result) => result.refusals);
  console.log(`${results.filter((result) => result.rules.length === 1).length} of ${lines.length} rules; refused: ${countKeywords(refusals)}`);
  expect(lines.length).toBeGreaterThan(500);
  expect(refusals).toEqual([]);
});
