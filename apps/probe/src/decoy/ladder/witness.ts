/** Who sees what is done at a decoy, and whether it counts. */
import type { Clock } from "@lanthorn/runtime";
import type { Witness } from "../sessions/reports.ts";
import type { Exemptions } from "./exemptions.ts";
import type { ExpectedTests } from "./expected-tests.ts";
import type { Guesses } from "./guesses.ts";
import type { Ladder, Step } from "./ladder.ts";

/** Where it is done. */
export type WitnessedPlace = Pick<Step, "decoy" | "destination" | "destinationPort" | "isProven" | "service">;

/** Decides once for each who comes: whoever is exempt is counted, and nothing more is known of them. @returns Who was touched already. */
export type CallWitness = (place: WitnessedPlace, source: string, sourcePort: number) => Witness;

/** @param deps.keepPasswords Whether passwords are reported. */
export function createWitnesses({ ladder, guesses, exemptions, tests, clock, keepPasswords }: {
  readonly ladder: Pick<Ladder, "climb">; readonly guesses: Pick<Guesses, "add">; readonly exemptions: Pick<Exemptions, "isOwn" | "take">; readonly tests: Pick<ExpectedTests, "take">;
  readonly clock: Pick<Clock, "monotonic" | "now">; readonly keepPasswords: boolean;
}): CallWitness {
  return (place, source, sourcePort) => {
    const { decoy, service, destinationPort: port } = place;
    const isTest = exemptions.isOwn(source) && tests.take(decoy, port, clock.monotonic());
    const isExempt = !isTest && exemptions.take(source, port, new Date(clock.now()));
    let incidentId: string | null = null;
    const onStep: Witness["onStep"] = (rung, username, detail) => {
      if (!isExempt) incidentId = ladder.climb({ ...place, isTest, source, sourcePort, rung, username, detail }, clock.now(), clock.monotonic());
    };
    onStep("touch", "", "");
    return {
      onStep,
      onPassword(username, password, isBait) {
        if (incidentId !== null && keepPasswords) guesses.add(incidentId, decoy, { service, username, password, is_bait: isBait });
      },
      onFile: () => undefined,
    };
  };
}
