import type { HoneypotEvidence } from "@lanthorn/contract/uplink";
import { systemClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createEvidenceQueue } from "../evidence/evidence-queue.ts";
import { describeHit } from "../link/describe-hit.ts";
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

test("of one incident eight programs and sixteen files are reported, each once, and how many are left out is said", () => {
  const { ladder, evidence, come } = openWitnesses();
  const witness = come("192.0.2.66");
  const file = (number: number) => ({ name: `f${number}`, sha256: number.toString(16).padStart(64, "0"), octets: 1, is_kept: true });
  for (let number = 0; number < 100; number += 1) {
    for (let times = 0; times < 2; times += 1) {
      witness.onEvidence({ transcript: null, files: [], fingerprints: [{ kind: "software", value: `agent/${Math.min(number, 8)}` }] });
      witness.onEvidence({ transcript: null, files: [file(Math.min(number, 16))], fingerprints: [] });
    }
    witness.onEvidence({ transcript: "x", files: [], fingerprints: [] });
  }
  const sent: HoneypotEvidence[] = [];
  while (evidence.size > 0) {
    const numbers: number[] = [];
    evidence.flush(0, (number, one) => numbers.push(number) > 0 && sent.push(one) > 0);
    for (const number of numbers) evidence.taken(number);
  }
  const of = (part: (one: HoneypotEvidence) => number) => sent.reduce((sum, one) => sum + part(one), 0);
  expect([of(({ fingerprints }) => fingerprints.length), of(({ files }) => files.length), of(({ transcript }) => (transcript === null ? 0 : 1))]).toEqual([8, 16, 16]);
  const hits: ReportedHit[] = [];
  ladder.flush(systemClock.monotonic(), (_, hit) => hits.push(hit) > 0);
  expect(hits.map((hit) => describeHit(hit))).toEqual(["1 connection to ftp; 436 pieces of evidence left out"]);
});

test("a source of the link is known by its address alone, whatever interface it came by", () => {
  const { ladder, exemptions, come } = openWitnesses();
  for (const source of ["fe80::9%eth0", "fe80::1%eth0", "fe80::5%eth0"]) come(source);
  const hits: ReportedHit[] = [];
  ladder.flush(systemClock.monotonic(), (_, hit) => hits.push(hit) > 0);
  expect(hits.map((hit) => ReportedHit.parse(hit).source_ip)).toEqual(["fe80::9"]);
  expect(exemptions.counts().map(({ connections }) => connections)).toEqual([1, 1]);
});
