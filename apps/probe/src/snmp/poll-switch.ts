import { type Clock, pause } from "@lanthorn/runtime";
import type { ExchangeDatagram } from "../identify/datagrams.ts";
import type { SnmpAccess } from "./access.ts";
import { readSwitch, type SwitchTables } from "./read-switch.ts";
import { createSnmpSession, type SnmpCredential } from "./session/session.ts";

/** What a poll of one switch has shown: its tables, or why they cannot be read. */
export type SwitchPoll = { readonly tables: SwitchTables } | {
  /** In words, by credential. */
  readonly problem: string;
  /** Whether something answered, though not with its tables. */
  readonly isThere: boolean;
  /** Whether no credential is worth another try now. */
  readonly isFinal: boolean;
};

/** What a switch is polled with. */
export interface PollSwitchDeps {
  readonly access: SnmpAccess;
  readonly isExcluded: (ip: string) => boolean;
  readonly ask: ExchangeDatagram;
  readonly clock: Clock;
  readonly random: () => number;
}

/** A switch answers its ports first, and SNMP when it has time. */
const REQUESTS_PER_SECOND = 40;
const MAX_WAIT_MS = 120_000;
/** The contract's limit. */
const MAX_PROBLEM_LENGTH = 1024;

/**
 * Reads a switch's tables with the first of its credentials that it answers to.
 * @param signal Ends it.
 * @returns Null where the signal ended it, or where it may no longer be polled: what came until then is no whole report.
 */
export async function pollSwitch(ip: string, deps: PollSwitchDeps, signal: AbortSignal): Promise<SwitchPoll | null> {
  const problems: string[] = [];
  let [isThere, isFinal] = [false, true];
  for (const credential of deps.access.forHost(ip)) {
    const poll = await pollWith(credential, ip, deps, signal);
    if (!poll || "tables" in poll) return poll;
    problems.push(`${credential.name}: ${poll.problem}`);
    isThere ||= poll.isThere;
    isFinal &&= poll.isFinal;
  }
  return { problem: problems.join("; ").slice(0, MAX_PROBLEM_LENGTH), isThere, isFinal };
}

async function pollWith(credential: SnmpCredential, ip: string, deps: PollSwitchDeps, stop: AbortSignal): Promise<SwitchPoll | null> {
  const { access, clock } = deps;
  const refusal = access.refusal(ip, credential);
  if (refusal !== null) return { problem: refusal, isThere: true, isFinal: true };
  const signal = AbortSignal.any([stop, AbortSignal.timeout(MAX_WAIT_MS)]);
  const mayAsk = () => !deps.isExcluded(ip) && access.isHeld(ip, credential);
  const pace = () => pause(clock, 1000 / REQUESTS_PER_SECOND);
  const session = createSnmpSession({ ...deps, ip, credential, pace, signal, mayAsk });
  const tables = await readSwitch(session);
  if (stop.aborted || !mayAsk()) return null;
  if (signal.aborted) return { problem: "it takes too long", isThere: true, isFinal: false };
  if (tables) {
    access.noteAnswer(ip, credential);
    return { tables };
  }
  const problem = session.problem() ?? { kind: "silent", text: "it does not answer" };
  access.noteProblem(ip, credential, problem);
  return { problem: problem.text, isThere: problem.kind !== "silent", isFinal: access.refusal(ip, credential) !== null };
}
