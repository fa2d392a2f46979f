import type { SwitchReport } from "@lanthorn/contract/uplink";
import { formatIp, parseIp } from "@lanthorn/packets";
import { type Clock, describeError, type Log, pause, toInstant } from "@lanthorn/runtime";
import type { AskDatagram } from "../identify/datagrams.ts";
import type { Publisher } from "../queue/publisher.ts";
import type { SnmpAccess } from "./access.ts";
import { readSwitch, type SwitchTables } from "./read-switch.ts";
import { createSnmpSession, type SnmpCredential } from "./session.ts";
import { createSwitchMemory, reportText, silentReport, type SwitchMemory } from "./switch-report.ts";
import type { SwitchesStore } from "./switches-store.ts";

/** Asks switches and routers by SNMP who hangs on them, and tells the collector. */
export interface SwitchWatch {
  /** Asks all of them now; a round that is under way is joined. */
  pollNow(): Promise<void>;
  close(): Promise<void>;
}

/** Which switches are polled and with what; `store` keeps what was reported across restarts. */
export interface SwitchWatchDeps {
  readonly publisher: Publisher;
  readonly store: SwitchesStore;
  readonly access: SnmpAccess;
  /** Addresses by which neighbors on the own link say that they are managed. */
  readonly announced: () => readonly string[];
  readonly isExcluded: (ip: string) => boolean;
  readonly ask: AskDatagram;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Between two rounds. */
  readonly intervalMs: number;
}

/** Reported again although nothing has changed. */
const REPORT_AGAIN_MS = 3_600_000;
/** A switch answers its ports first, and SNMP when it has time. */
const QUESTIONS_PER_SECOND = 40;
const MAX_SWITCHES = 64;
const MAX_WAIT_MS = 120_000;
/** Rounds without an answer. */
const MAX_MISSES = 3;
/** The contract's limit. */
const MAX_PROBLEM_LENGTH = 1024;

interface Known {
  readonly memory: SwitchMemory;
  /** Text of the last report; null while this process has published none. */
  reported: string | null;
  reportedAt: number;
  /** Whether it answers, by the last report, also one before a restart; null before the first. */
  answers: boolean | null;
  misses: number;
}

/** What became of asking one. */
type Answer = { readonly tables: SwitchTables } | { readonly problem: string; readonly isThere: boolean; readonly isFinal: boolean };

/** Polls when it is called: `open.ts` keeps the time. */
export function createSwitchWatch(deps: Omit<SwitchWatchDeps, "intervalMs">): SwitchWatch {
  const { access, clock, log, store } = deps;
  const stop = new AbortController();
  const known = new Map<string, Known>();
  for (const [ip, problem] of store.all()) {
    const reported = problem === "" ? null : reportText(silentReport(ip, problem));
    known.set(ip, { ...newcomer(), reported, answers: problem === "" });
  }
  let round: Promise<void> | null = null;

  function targets(): readonly string[] {
    const all = [...access.namedHosts(), ...deps.announced()].flatMap((text) => {
      const bytes = parseIp(text);
      return bytes ? [formatIp(bytes)] : [];
    });
    return [...new Set(all)].filter((ip) => !deps.isExcluded(ip) && access.forHost(ip).length > 0).slice(0, MAX_SWITCHES);
  }
  const pace = () => pause(clock, 1000 / QUESTIONS_PER_SECOND);

  async function ask(ip: string, credential: SnmpCredential): Promise<Answer | null> {
    const refusal = access.refusal(ip, credential);
    if (refusal !== null) return { problem: refusal, isThere: true, isFinal: true };
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(MAX_WAIT_MS)]);
    const mayAsk = () => !deps.isExcluded(ip) && access.isHeld(ip, credential);
    const session = createSnmpSession({ ...deps, ip, credential, pace, signal, mayAsk });
    const tables = await readSwitch(session);
    // What came until it was forbidden is no whole report.
    if (stop.signal.aborted || !mayAsk()) return null;
    if (signal.aborted) return { problem: "it takes too long", isThere: true, isFinal: false };
    if (tables) {
      access.noteAnswer(ip, credential);
      return { tables };
    }
    const problem = session.problem() ?? { kind: "silent", text: "it does not answer" };
    access.noteProblem(ip, credential, problem);
    return { problem: problem.text, isThere: problem.kind !== "silent", isFinal: access.refusal(ip, credential) !== null };
  }
  async function look(ip: string): Promise<void> {
    const one = known.get(ip) ?? newcomer();
    known.set(ip, one);
    const problems: string[] = [];
    let [isThere, isFinal] = [false, true];
    for (const credential of access.forHost(ip)) {
      const answer = await ask(ip, credential);
      if (!answer) return;
      if ("tables" in answer) {
        one.misses = 0;
        tell(ip, one, one.memory.report(ip, answer.tables, clock.monotonic()));
        return;
      }
      problems.push(`${credential.name}: ${answer.problem}`);
      isThere ||= answer.isThere;
      isFinal &&= answer.isFinal;
    }
    one.misses += 1;
    // A neighbor that nobody has named need not speak SNMP at all.
    const isExpected = isThere || one.answers !== null || access.namedHosts().includes(ip);
    // What has answered may answer again, unless it refuses all that there is for it.
    const isSure = one.misses >= MAX_MISSES || isFinal || (isThere && one.answers !== true);
    if (isExpected && isSure) tell(ip, one, silentReport(ip, problems.join("; ").slice(0, MAX_PROBLEM_LENGTH)));
  }
  function tell(ip: string, one: Known, data: SwitchReport): void {
    const text = reportText(data);
    const now = clock.monotonic();
    if (text === one.reported && (!data.answers || now - one.reportedAt < REPORT_AGAIN_MS)) return;
    if (!publish(data, () => store.save(ip, data.problem ?? ""))) return;
    if (!data.answers) log.warn({ ip, reason: data.problem }, "a switch cannot be read by SNMP");
    Object.assign(one, { reported: text, reportedAt: now, answers: data.answers });
  }
  /** It is no longer polled: its reports and its problem are out of date. */
  function forget(ip: string, one: Known): void {
    if (one.answers === null || publish(silentReport(ip, ""), () => store.remove(ip))) known.delete(ip);
  }
  const publish = (data: SwitchReport, state: () => void) =>
    deps.publisher.publish([{ type: "switch_report", occurred_at: toInstant(clock.now()), data }], state);
  async function poll(): Promise<void> {
    const asked = targets();
    for (const [ip, one] of known) if (!asked.includes(ip)) forget(ip, one);
    for (const ip of asked) {
      if (stop.signal.aborted) return;
      await look(ip).catch((error: unknown) => log.error({ reason: describeError(error), ip }, "a switch's tables could not be read"));
    }
  }
  const pollNow = () => {
    round ??= poll().finally(() => {
      round = null;
    });
    return round;
  };
  return {
    pollNow,
    async close() {
      stop.abort(new Error("the probe stops"));
      await round;
    },
  };
}

function newcomer(): Known {
  return { memory: createSwitchMemory(), reported: null, reportedAt: 0, answers: null, misses: 0 };
}
