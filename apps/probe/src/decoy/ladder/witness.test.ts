import { systemClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createEvidenceQueue } from "../evidence/evidence-queue.ts";
import { ReportedHit } from "../link/messages.ts";
import { createExemptions } from "./exemptions.ts";
import { createExpectedTests } from "./expected-tests.ts";
import { createGuesses } from "./guesses.ts";
import { createLadder } from "./ladder.ts";
import { createWitnesses } from "./witness.ts";

/** @returns Who sees, and what of it waits. */
function openWitnesses() {
  const [ladder, evidence] = [createLadder(), createEvidenceQueue()];
  const exemptions = createExemptions([{ name: "scanner", addresses: ["fe80::5"], ports: [], hours: undefined }], () => ["fe80::1"]);
  const callWitness = createWitnesses({ ladder, guesses: createGuesses(), evidence, exemptions, tests: createExpectedTests(), clock: systemClock, keepPasswords: true });
  return { ladder, evidence, exemptions, come: (source: string) => callWitness({ decoy: "files2", service: "ftp", destination: "2001:db8::5", destinationPort: 21, isProven: true }, source, 40_000) };
}

test("a source of the link is known by its address alone, whatever interface it came by", () => {
  const { ladder, exemptions, come } = openWitnesses();
  for (const source of ["fe80::9%eth0", "fe80::1%eth0", "fe80::5%eth0"]) come(source);
  const hits: ReportedHit[] = [];
  ladder.flush(systemClock.monotonic(), (_, hit) => hits.push(hit) > 0);
  expect(hits.map((hit) => ReportedHit.parse(hit).source_ip)).toEqual(["fe80::9"]);
  expect(exemptions.counts().map(({ connections }) => connections)).toEqual([1, 1]);
});
