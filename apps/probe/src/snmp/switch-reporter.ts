import type { SwitchReport } from "@lanthorn/contract/uplink";
import { type Clock, type Log, toInstant } from "@lanthorn/runtime";
import type { Publisher } from "../queue/publisher.ts";
import { reportText, silentReport } from "./switch-report.ts";
import type { SwitchesStore } from "./switches-store.ts";

/** Publishes reports of switches: when something has changed, and once an hour while it answers. */
export interface SwitchReporter {
  /** Whether a switch answers, by its last report, also one before a restart; null before the first. */
  answers(ip: string): boolean | null;
  /** Publishes a report, unless the last one says the same and is not old. */
  report(data: SwitchReport): void;
  /** Reports of all switches but these are out of date, as is what is wrong with them: they are no longer polled. */
  keepOnly(ips: readonly string[]): void;
}

/** Reported again although nothing has changed. */
const REPORT_AGAIN_MS = 3_600_000;

interface Reported {
  /** Text of the last report; null while this process has published none. */
  readonly text: string | null;
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly answers: boolean;
}

/** Begins with what earlier runs reported. @param deps.publisher Of the database that `store` is in. */
export function createSwitchReporter(deps: {
  readonly publisher: Publisher;
  readonly store: SwitchesStore;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly log: Log;
}): SwitchReporter {
  const { store, clock } = deps;
  const last = new Map<string, Reported>();
  for (const [ip, problem] of store.all()) {
    const answers = problem === "";
    last.set(ip, { text: answers ? null : reportText(silentReport(ip, problem)), at: 0, answers });
  }
  const publish = (data: SwitchReport, state: () => void) =>
    deps.publisher.publish([{ type: "switch_report", occurred_at: toInstant(clock.now()), data }], state);
  return {
    answers: (ip) => last.get(ip)?.answers ?? null,
    report(data) {
      const { ip, answers, problem } = data;
      const text = reportText(data);
      const before = last.get(ip);
      const now = clock.monotonic();
      if (text === before?.text && (!answers || now - before.at < REPORT_AGAIN_MS)) return;
      if (!publish(data, () => store.save(ip, problem ?? ""))) return;
      if (!answers) deps.log.warn({ ip, reason: problem }, "a switch cannot be read by SNMP");
      last.set(ip, { text, at: now, answers });
    },
    keepOnly(ips) {
      for (const ip of last.keys()) {
        if (!ips.includes(ip) && publish(silentReport(ip, ""), () => store.remove(ip))) last.delete(ip);
      }
    },
  };
}
