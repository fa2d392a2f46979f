/** Proves that a decoy would alert: the daemon connects to it as anybody would, and waits for the hit. */
import { createSocket } from "node:dgram";
import { connect, isIPv6 } from "node:net";
import type { Clock } from "@lanthorn/runtime";
import type { ReportedHit, TrialPlace } from "./messages.ts";

/** What came of it: the hit, or in words why there is none. */
export type TrialOutcome = { readonly hit: ReportedHit } | { readonly problem: string };

/** Tries decoys, each once at a time. */
export interface DecoyTrials {
  run(decoy: string): Promise<TrialOutcome>;
  /** The decoys expect it at this place, or have none that is served. */
  armed(number: number, place: TrialPlace | null): void;
  /** @param hit Of a test. */
  seen(hit: ReportedHit): void;
}

/** A hit is reported within a quarter of a second. */
const ANSWER_WITHIN_MS = 10_000;
const MAX_AT_ONCE = 4;

interface Trial {
  readonly decoy: string;
  readonly end: (outcome: TrialOutcome) => void;
  /** Ends the connection. */
  close: () => void;
}

/** @param deps.arm Asks the decoys to expect it. False where they are away. */
export function createDecoyTrials({ arm, clock }: { readonly arm: (number: number, decoy: string) => boolean; readonly clock: Pick<Clock, "after"> }): DecoyTrials {
  const running = new Map<number, Trial>();
  let lastNumber = 0;
  return {
    run(decoy) {
      if (running.size >= MAX_AT_ONCE || [...running.values()].some((one) => one.decoy === decoy)) return Promise.resolve({ problem: "it is being tested already" });
      lastNumber += 1;
      const number = lastNumber;
      return new Promise((resolve) => {
        const cancel = clock.after(ANSWER_WITHIN_MS, () => trial.end({ problem: `the decoy ${decoy} reported nothing within ${ANSWER_WITHIN_MS / 1000} seconds` }));
        const trial: Trial = {
          decoy, close: () => undefined,
          end(outcome) {
            if (!running.delete(number)) return;
            cancel();
            trial.close();
            resolve(outcome);
          },
        };
        running.set(number, trial);
        if (!arm(number, decoy)) trial.end({ problem: "the decoys' process does not run, or does not reach the probe: see systemctl status lanthorn-decoy" });
      });
    },
    armed(number, place) {
      const trial = running.get(number);
      if (!trial) return;
      if (!place) return trial.end({ problem: `there is no decoy ${trial.decoy} of which a service is served` });
      trial.close = touch(place, (problem) => trial.end({ problem: `the decoy ${trial.decoy} does not answer at port ${place.port} of ${place.address}: ${problem}` }));
    },
    seen(hit) {
      for (const trial of running.values()) if (trial.decoy === hit.decoy) trial.end({ hit });
    },
  };
}

/** Connects, or sends an empty datagram. @returns What ends it. */
function touch({ address, port, transport }: TrialPlace, onProblem: (problem: string) => void): () => void {
  if (transport === "udp") {
    const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
    socket.on("error", ({ message }) => onProblem(message));
    socket.send("", port, address);
    return () => socket.close();
  }
  const socket = connect({ host: address, port });
  socket.on("error", ({ message }) => onProblem(message));
  socket.resume();
  return () => void socket.destroy();
}
