/** The daemon's side: it listens where the decoys' process of this machine may connect, takes what it saw, and says who is exempt. */
import { isDeepStrictEqual } from "node:util";
import type { DecoyExemption, DecoysState, HoneypotCredentials, HoneypotEvidence } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import type { ChannelRate } from "../../channel/channel.ts";
import { listenOnSocket, type SocketListener } from "../../channel/socket-listener.ts";
import type { ScanLook } from "../scans/scan-look.ts";
import { createDecoyTrials, type TrialOutcome } from "./decoy-trial.ts";
import { FromDecoys, type ReportedHit, type ReportedState, type ToDecoys } from "./messages.ts";

/** What listens. */
export interface DecoysListener extends Pick<SocketListener, "close"> {
  /** Null before decoys were heard. */
  state(): DecoysState | null;
  /** Who may touch them, beside those of their own file. Decoys that come later learn it, too. */
  exempt(exemptions: readonly DecoyExemption[]): void;
  /** Somebody scanned them. False while they are away. */
  scanned(looks: readonly ScanLook[]): boolean;
  /** Proves that a decoy would alert. Its hit is reported as that of a test. */
  test(decoy: string): Promise<TrialOutcome>;
}

const RATE: ChannelRate = { messages: 100, bytes: 512 * 1024 };
const LOG_MS = 60_000;

/**
 * Begins at once, and tries again where it cannot.
 * @param deps.collector The collector as one who is exempt, as far as it is known where it is.
 * @param deps.onHit False where it could not be written down: the decoys keep it. @param deps.onCredentials Likewise. @param deps.onEvidence Likewise.
 * @param deps.onDecoys They begin, or are otherwise than before: what they serve, and where.
 */
export function listenForDecoys(path: string, deps: {
  readonly onHit: (hit: ReportedHit) => boolean; readonly onCredentials: (credentials: HoneypotCredentials) => boolean;
  readonly onEvidence: (evidence: HoneypotEvidence) => boolean;
  readonly onDecoys?: () => void; readonly collector: () => readonly DecoyExemption[]; readonly clock: Pick<Clock, "after" | "monotonic">; readonly log: Pick<Log, "warn">;
}): DecoysListener {
  let state: ReportedState | null = null;
  let isRunning = false;
  let exemptions: readonly DecoyExemption[] = [];
  const toMessage = (): ToDecoys => ({ kind: "exemptions", exemptions: [...exemptions, ...deps.collector()] });
  let [unread, loggedMs] = [0, Number.NEGATIVE_INFINITY];
  const isTaken = <T>(given: T | null, take: (given: T) => boolean): boolean => {
    if (given !== null) return take(given);
    unread += 1;
    if (deps.clock.monotonic() - loggedMs >= LOG_MS) {
      loggedMs = deps.clock.monotonic();
      deps.log.warn({ unread }, "what the decoys report cannot be read, and is left out: lanthorn-decoy must be of the same version as the probe");
    }
    return true;
  };
  const listener = listenOnSocket<FromDecoys, ToDecoys>(path, {
    who: "the decoys", incoming: FromDecoys, rate: RATE, clock: deps.clock, log: deps.log, onAllGone: () => (isRunning = false),
    onMessage(message, answer) {
      if (message.kind === "state") {
        // Whoever begins says how it is, and does not know yet who is exempt.
        const isChanged = !isRunning || !isDeepStrictEqual(state?.decoys, message.state.decoys);
        [state, isRunning] = [message.state, true];
        if (isChanged) deps.onDecoys?.();
        answer(toMessage());
      } else if (message.kind === "hit") {
        if (!isTaken(message.hit, deps.onHit)) return;
        answer({ kind: "taken", number: message.number });
        if (message.hit?.is_test === true) trials.seen(message.hit);
      } else if (message.kind === "test-expected") trials.armed(message.number, message.place);
      else if (message.kind === "evidence") {
        if (isTaken(message.evidence, deps.onEvidence)) answer({ kind: "evidence-taken", number: message.number });
      } else if (isTaken(message.credentials, deps.onCredentials)) answer({ kind: "credentials-taken", number: message.number });
    },
  });
  const trials = createDecoyTrials({
    clock: deps.clock, arm(number, decoy) {
      if (isRunning) listener.send({ kind: "test", number, decoy });
      return isRunning;
    },
  });
  return {
    test: trials.run,
    scanned(looks) {
      if (isRunning) listener.send({ kind: "scans", looks: [...looks] });
      return isRunning;
    },
    state: () => state && { ...state, is_running: isRunning },
    exempt(wanted) {
      if (isDeepStrictEqual(wanted, exemptions)) return;
      exemptions = wanted;
      listener.send(toMessage());
    },
    close: () => listener.close(),
  };
}
