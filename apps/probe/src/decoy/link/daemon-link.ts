/** The decoys' side: it connects to the daemon, goes on without it, and sends what was seen. */
import type { DecoyExemption } from "@lanthorn/contract/uplink";
import type { Clock } from "@lanthorn/runtime";
import { linkBySocket } from "../../channel/socket-link.ts";
import type { EvidenceQueue } from "../evidence/evidence-queue.ts";
import type { Guesses } from "../ladder/guesses.ts";
import type { Ladder } from "../ladder/ladder.ts";
import type { ScanLook } from "../scans/scan-look.ts";
import { type FromDecoys, type ReportedState, ToDecoys, type TrialPlace } from "./messages.ts";

/** What rises within it is one report. */
const FLUSH_MS = 250;
const STATE_MS = 10_000;
const MAX_LAST_FLUSHES = 64;
/** An address that a decoy takes for itself is announced some seconds after it is found free: the collector is to know it before. */
const CHANGE_MS = 1000;

/**
 * Begins at once.
 * @param deps.path The daemon's socket; nothing need be there. @param deps.onExempt Who is exempt beside those of the file.
 * @param deps.onScans The daemon saw them in frames. @param deps.onTest The daemon is about to test a decoy: where, or null where that one serves nothing.
 * @returns What ends it.
 */
export function linkToDaemon({ path, ladder, guesses, evidence, state, onExempt, onScans, onTest, random, clock }: {
  readonly path: string; readonly ladder: Ladder; readonly guesses: Guesses; readonly evidence: EvidenceQueue; readonly state: () => ReportedState; readonly onExempt: (exemptions: readonly DecoyExemption[]) => void;
  readonly onScans: (looks: readonly ScanLook[]) => void;
  readonly onTest: (decoy: string) => TrialPlace | null;
  readonly random: () => number; readonly clock: Pick<Clock, "after" | "every" | "monotonic">;
}): () => void {
  let said = "";
  const sendState = () => {
    const now = state();
    said = JSON.stringify(now.decoys);
    link.send({ kind: "state", state: now });
  };
  const link = linkBySocket<ToDecoys, FromDecoys>({
    path, incoming: ToDecoys, random, clock, onOpen: sendState,
    onMessage(message) {
      if (message.kind === "taken") ladder.taken(message.number, clock.monotonic());
      else if (message.kind === "credentials-taken") guesses.taken(message.number);
      else if (message.kind === "evidence-taken") evidence.taken(message.number);
      else if (message.kind === "test") link.send({ kind: "test-expected", number: message.number, place: onTest(message.decoy) });
      else if (message.kind === "scans") onScans(message.looks);
      else onExempt(message.exemptions);
    },
    onAway() {
      ladder.lost();
      guesses.lost();
      evidence.lost();
    },
  });
  let sent = 0;
  const send = (message: FromDecoys): boolean => {
    const isSent = link.send(message);
    sent += isSent ? 1 : 0;
    return isSent;
  };
  const flush = () => {
    sent = 0;
    ladder.flush(clock.monotonic(), (number, hit) => send({ kind: "hit", number, hit }));
    guesses.flush(clock.monotonic(), (number, credentials) => send({ kind: "credentials", number, credentials }));
    evidence.flush(clock.monotonic(), (number, one) => send({ kind: "evidence", number, evidence: one }));
    return sent > 0;
  };
  const sendChange = () => {
    if (JSON.stringify(state().decoys) !== said) sendState();
  };
  const ends = [clock.every(FLUSH_MS, flush), clock.every(STATE_MS, sendState), clock.every(CHANGE_MS, sendChange)];
  return () => {
    for (const end of ends) end();
    // What waits goes out as far as the daemon takes it.
    for (let turn = 0; turn < MAX_LAST_FLUSHES && flush(); turn += 1);
    link.close();
  };
}
