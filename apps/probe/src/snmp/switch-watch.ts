import { formatIp, parseIp } from "@lanthorn/packets";
import { describeError, type Log } from "@lanthorn/runtime";
import type { Publisher } from "../queue/publisher.ts";
import { pollSwitch, type PollSwitchDeps } from "./poll-switch.ts";
import { createSwitchMemory, silentReport, type SwitchMemory } from "./switch-report.ts";
import { createSwitchReporter } from "./switch-reporter.ts";
import type { SwitchesStore } from "./switches-store.ts";

/** Asks switches and routers by SNMP who hangs on them, and reports it to the collector. */
export interface SwitchWatch {
  /** Polls all of them now; a round in progress is joined. */
  pollNow(): Promise<void>;
  close(): Promise<void>;
}

/** What the watch of switches needs. */
export interface SwitchWatchDeps extends PollSwitchDeps {
  readonly publisher: Publisher;
  readonly store: SwitchesStore;
  /** Addresses by which neighbors on the own link say that they are managed. */
  readonly announced: () => readonly string[];
  readonly log: Log;
  /** Between two rounds. */
  readonly intervalMs: number;
}

const MAX_SWITCHES = 64;
/** Polls without an answer. */
const MAX_MISSES = 3;

interface Polled {
  readonly memory: SwitchMemory;
  misses: number;
}

/** Polls when it is called: `open.ts` keeps the time. */
export function createSwitchWatch(deps: Omit<SwitchWatchDeps, "intervalMs">): SwitchWatch {
  const { access, clock, log } = deps;
  const stop = new AbortController();
  const reporter = createSwitchReporter(deps);
  const polled = new Map<string, Polled>();
  let round: Promise<void> | null = null;

  function targets(): readonly string[] {
    const all = [...access.namedHosts(), ...deps.announced()].flatMap((text) => {
      const bytes = parseIp(text);
      return bytes ? [formatIp(bytes)] : [];
    });
    return [...new Set(all)].filter((ip) => !deps.isExcluded(ip) && access.forHost(ip).length > 0).slice(0, MAX_SWITCHES);
  }

  async function pollOne(ip: string): Promise<void> {
    const one = polled.get(ip) ?? { memory: createSwitchMemory(), misses: 0 };
    polled.set(ip, one);
    const poll = await pollSwitch(ip, deps, stop.signal);
    if (!poll) return;
    if ("tables" in poll) {
      one.misses = 0;
      reporter.report(one.memory.report(ip, poll.tables, clock.monotonic()));
      return;
    }
    one.misses += 1;
    const answered = reporter.answers(ip);
    // A neighbor that nobody has named need not speak SNMP at all.
    const isExpected = poll.isThere || answered !== null || access.namedHosts().includes(ip);
    // What has answered may answer again, unless it refuses all that there is for it.
    const isSure = one.misses >= MAX_MISSES || poll.isFinal || (poll.isThere && answered !== true);
    if (isExpected && isSure) reporter.report(silentReport(ip, poll.problem));
  }

  async function pollAll(): Promise<void> {
    const ips = targets();
    reporter.keepOnly(ips);
    for (const ip of polled.keys()) if (!ips.includes(ip)) polled.delete(ip);
    for (const ip of ips) {
      if (stop.signal.aborted) return;
      await pollOne(ip).catch((error: unknown) => log.error({ reason: describeError(error), ip }, "a switch's tables could not be read"));
    }
  }

  return {
    pollNow() {
      round ??= pollAll().finally(() => {
        round = null;
      });
      return round;
    },
    async close() {
      stop.abort(new Error("the probe stops"));
      await round;
    },
  };
}
