/** Who sees what is done at a decoy, and whether it counts. */
import { withoutZone } from "@lanthorn/packets";
import { type Clock, createId } from "@lanthorn/runtime";
import { createEvidenceLimits } from "../evidence/evidence-limits.ts";
import type { EvidenceQueue } from "../evidence/evidence-queue.ts";
import type { Witness } from "../sessions/reports.ts";
import type { Exemptions } from "./exemptions.ts";
import type { ExpectedTests } from "./expected-tests.ts";
import type { Guesses } from "./guesses.ts";
import type { Ladder, Step } from "./ladder.ts";

/** Where it is done. */
export type WitnessedPlace = Pick<Step, "decoy" | "destination" | "destinationPort" | "isProven" | "service">;

/** Decides once for each who comes: whoever is exempt is counted, and nothing more is known of them. @param source With its zone or without. @returns Who was touched already. */
export type CallWitness = (place: WitnessedPlace, source: string, sourcePort: number) => Witness;

/** @param deps.keepPasswords Whether passwords are reported. */
export function createWitnesses({ ladder, guesses, evidence, exemptions, tests, clock, keepPasswords }: {
  readonly ladder: Pick<Ladder, "climb" | "leaveOut">; readonly guesses: Pick<Guesses, "add">; readonly evidence: Pick<EvidenceQueue, "add">; readonly exemptions: Pick<Exemptions, "isOwn" | "take">; readonly tests: Pick<ExpectedTests, "take">;
  readonly clock: Pick<Clock, "monotonic" | "now">; readonly keepPasswords: boolean;
}): CallWitness {
  const limits = createEvidenceLimits();
  return (place, sender, sourcePort) => {
    const source = withoutZone(sender);
    const { decoy, service, destinationPort: port } = place;
    const isTest = exemptions.isOwn(source) && tests.take(decoy, port, clock.monotonic());
    const isExempt = !isTest && exemptions.take(source, port, new Date(clock.now()));
    let incidentId: string | null = null;
    const onStep: Witness["onStep"] = (rung, username, detail, techniques) => {
      if (!isExempt) incidentId = ladder.climb({ ...place, isTest, source, sourcePort, rung, username, detail, ...(techniques && { techniques }) }, clock.now(), clock.monotonic());
    };
    onStep("touch", "", "");
    return {
      onStep,
      onPassword(username, password, isBait) {
        if (incidentId !== null && keepPasswords) guesses.add(incidentId, decoy, { service, username, password, is_bait: isBait }, place.isProven);
      },
      onEvidence(given) {
        if (incidentId === null) return;
        const { evidence: fresh, leftOut } = limits.admit(incidentId, given, clock.monotonic());
        const isNone = fresh.transcript === null && fresh.files.length === 0 && fresh.fingerprints.length === 0;
        const isWaiting = isNone || evidence.add({ ...fresh, evidence_id: createId(), incident_id: incidentId, decoy, service });
        ladder.leaveOut({ isTest, source, sourcePort, decoy }, leftOut + (isWaiting ? 0 : 1));
      },
    };
  };
}
