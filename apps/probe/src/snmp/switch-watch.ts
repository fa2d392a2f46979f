import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { formatIp, parseIp } from "@lanthorn/packets";
import { type Clock, describeError, type Log, pause, toInstant } from "@lanthorn/runtime";
import type { Credentials } from "../credentials/credentials.ts";
import type { EventSink } from "../hosts/telling.ts";
import type { AskDatagram } from "../identify/datagrams.ts";
import { readSwitch } from "./read-switch.ts";
import { createSnmpSession, type SnmpCredential } from "./session.ts";
import { createSwitchMemory, reportText, silentReport, type SwitchMemory } from "./switch-report.ts";

/** Asks switches and routers by SNMP who hangs on them, and tells the collector. */
export interface SwitchWatch {
  /** Asks all of them now; a round that is under way is joined. */
  pollNow(): Promise<void>;
  close(): Promise<void>;
}

export interface SwitchWatchDeps {
  readonly outbox: EventSink;
  readonly credentials: Pick<Credentials, "forHost" | "namedHosts">;
  /** Named by the probe's own configuration. */
  readonly devices: readonly string[];
  /** Addresses by which neighbours on the own link say that they are managed. */
  readonly announced: () => readonly string[];
  readonly isExcluded: (ip: string) => boolean;
  readonly ask: AskDatagram;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Between two rounds. */
  readonly intervalMs: number;
}

/** Told again though nothing has changed. */
const TELL_AGAIN_MS = 3_600_000;
/** A switch answers its ports first, and SNMP when it has time. */
const QUESTIONS_PER_SECOND = 40;
const MOST_SWITCHES = 64;
const MOST_MS = 120_000;
/** Rounds without an answer. */
const MOST_MISSES = 3;

interface Known {
  readonly memory: SwitchMemory;
  told: string;
  toldAt: number;
  misses: number;
}

/** Asks when it is told to: `open.ts` keeps the time. */
export function createSwitchWatch(deps: Omit<SwitchWatchDeps, "intervalMs">): SwitchWatch {
  const { clock, log } = deps;
  const stop = new AbortController();
  const known = new Map<string, Known>();
  let round: Promise<void> | null = null;

  function targets(): readonly string[] {
    const named = [...deps.devices, ...deps.credentials.namedHosts()];
    // A community is sent in the clear: only to whom somebody has named, or whose network it is for.
    const announced = deps.announced().filter((ip) => credentialsOf(ip).some((one) => one.type === "snmpv3" || one.networks.length > 0));
    const all = [...named, ...announced].flatMap((text) => {
      const bytes = parseIp(text);
      return bytes ? [formatIp(bytes)] : [];
    });
    return [...new Set(all)].filter((ip) => !deps.isExcluded(ip) && credentialsOf(ip).length > 0).slice(0, MOST_SWITCHES);
  }
  function credentialsOf(ip: string): readonly SnmpCredential[] {
    return deps.credentials.forHost(ip).filter((one) => one.type !== "ssh");
  }
  const pace = () => pause(clock, 1000 / QUESTIONS_PER_SECOND);

  async function look(ip: string): Promise<void> {
    const problems: string[] = [];
    const bounded = AbortSignal.any([stop.signal, AbortSignal.timeout(MOST_MS)]);
    for (const credential of credentialsOf(ip)) {
      const session = createSnmpSession({ ...deps, ip, credential, pace, signal: bounded, mayAsk: () => !deps.isExcluded(ip) });
      const tables = await readSwitch(session);
      if (stop.signal.aborted) return;
      if (tables && !bounded.aborted) {
        const one = known.get(ip) ?? { memory: createSwitchMemory(), told: "", toldAt: 0, misses: 0 };
        known.set(ip, one);
        one.misses = 0;
        tell(one, one.memory.report(ip, tables, clock.monotonic()));
        return;
      }
      problems.push(`${credential.name}: ${session.problem() ?? "it takes too long"}`);
    }
    log.warn({ ip, problems }, "a switch does not answer SNMP");
    const one = known.get(ip);
    if (!one) return;
    one.misses += 1;
    if (one.misses === MOST_MISSES) tell(one, silentReport(ip));
  }
  function tell(one: Known, data: Extract<ProbeEvent, { readonly type: "switch_report" }>["data"]): void {
    const text = reportText(data);
    const now = clock.monotonic();
    if (text === one.told && now - one.toldAt < TELL_AGAIN_MS) return;
    try {
      deps.outbox.append([{ type: "switch_report", occurred_at: toInstant(clock.now()), data }]);
      one.told = text;
      one.toldAt = now;
    } catch (error) {
      log.error({ reason: describeError(error), ip: data.ip }, "a switch's report cannot be written down; trying again at the next round");
    }
  }
  async function poll(): Promise<void> {
    const asked = targets();
    for (const ip of known.keys()) if (!asked.includes(ip)) known.delete(ip);
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
