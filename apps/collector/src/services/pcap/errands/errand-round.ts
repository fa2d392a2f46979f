import type { Clock } from "@lanthorn/runtime";
import type { Outcome, ProbeAddress, ProbeCommands } from "../probe-commands.ts";
import type { Errand, ErrandsStore } from "../store/errands-store.ts";

/** What came of saying to a probe once all that it is to hear. */
interface RoundResult {
  /** What is done, or is never to be done. */
  readonly settled: number;
  /** Whether something is left that the probe may do later. */
  readonly isLeft: boolean;
}

/** What a round needs. */
export interface ErrandRoundDependencies {
  readonly store: ErrandsStore;
  readonly commands: Pick<ProbeCommands, "tell">;
  readonly clock: Pick<Clock, "now">;
}

/** Says to a probe, one after the other, all that it is to hear. @param signal Ends it after the present one. */
export function createErrandRound(deps: ErrandRoundDependencies, signal: AbortSignal): (probe: ProbeAddress) => Promise<RoundResult> {
  const { store, commands, clock } = deps;

  const carry = async (probe: ProbeAddress, { id, kind }: Errand): Promise<Outcome["kind"] | "settled"> => {
    const outcome = await commands.tell(probe, kind === "delete" ? "pcap_delete" : "pcap_fetch", { pcap_id: id });
    const isGone = outcome.kind === "refused" && outcome.reason === "no-such-file";
    if (outcome.kind !== "done" && !isGone) return outcome.kind;
    if (kind === "delete") await store.deletionHeard(id);
    else if (isGone) await store.gone(id, outcome.words, clock.now());
    else await store.sent(id, clock.now());
    return "settled";
  };

  return async (probe) => {
    let [settled, isLeft] = [0, false];
    for (let errands = await store.of(probe.probeId, ""); errands.length > 0; errands = await store.of(probe.probeId, errands.at(-1)?.id ?? "")) {
      for (const errand of errands) {
        if (signal.aborted) return { settled, isLeft };
        const how = await carry(probe, errand);
        if (how === "settled") settled += 1;
        else isLeft = true;
        if (how === "away") return { settled, isLeft: false };
        // Whoever does not answer one is not asked a hundred times.
        if (how === "unanswered") return { settled, isLeft };
      }
    }
    return { settled, isLeft };
  };
}
