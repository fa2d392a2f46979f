import type { AnomaliesPart, CaptureSettings, CommandData, PcapRecorded, TrafficHealth } from "@lanthorn/contract/uplink";
import type { Clock, Log } from "@lanthorn/runtime";
import type { AlertNotice, CommandAnswer, FoundAnomaly, FoundDnsThreat, FoundIntrusion, FromProcess, ProcessCounters, TrafficCommand } from "../messages.ts";
import { fromMegabytes, type TrafficSettings } from "../settings.ts";
import { createAlertMemory, createAllowance, createGaps, createSums } from "./process-memory.ts";
import { createPendingCommands } from "./pending-commands.ts";
import { toHealth } from "./process-health.ts";
import { createRulesBlame, MAX_ENDS } from "./rules-blame.ts";
import { createRunner, type Runner } from "./runner.ts";
import type { StartedProcess } from "./start-process.ts";

/** The traffic process, through everything that happens to it. */
export interface TrafficSupervisor {
  /** Frames are to be kept for an alert. It never waits; what the process has no time for is counted there. */
  alert(notice: AlertNotice): void;
  /** Has a command of the collector carried out. Does not reject. */
  command<T extends TrafficCommand>(command: T, data: CommandData<T>): Promise<CommandAnswer>;
  /** Other rules, other block lists or another table of countries are installed. */
  changed(what: "rules" | "names" | "countries"): void;
  /** How the engine of intrusion detection does; null before the process has said it. */
  rules(): ProcessCounters["rules"] | null;
  /** The site's settings have changed. */
  configure(site: CaptureSettings): void;
  /** What people say is normal for devices. */
  acceptAnomalies(part: AnomaliesPart | undefined): void;
  health(): TrafficHealth;
  /** For alerts about the probe itself; sums since the daemon began. */
  sums(): TrafficSums;
  /** Ends the process: it has some seconds to finish its files. */
  close(): Promise<void>;
}

/** Sums since the daemon began. */
export interface TrafficSums {
  readonly frames: number;
  /** Frames that the kernel or the process dropped. */
  readonly dropped: number;
  /** Frames that the sinks did without, of all sinks together. */
  readonly shed: number;
  /** Times without a recording that began within the last minutes. */
  readonly recentGaps: number;
}

/** What a supervisor needs. */
export interface SupervisorDeps {
  readonly settings: TrafficSettings;
  readonly dataDir: string;
  readonly probeId: () => string;
  readonly version: string;
  /** What files that wait to be sent may take. */
  readonly spoolBytes: number;
  readonly site: CaptureSettings;
  readonly start: () => StartedProcess;
  /** A file has begun or ended. @returns Whether that is in the queue. */
  readonly onRecorded: (data: PcapRecorded, at: number) => boolean;
  readonly onFound: (intrusion: FoundIntrusion) => void;
  readonly onDnsThreat: (threat: FoundDnsThreat) => void;
  readonly onAnomaly: (data: FoundAnomaly, at: number) => void;
  /** The process ended several times in a row soon after it had taken rules: they are not to be used again. */
  readonly onRulesFailed: (reason: string) => void;
  /** Asked at each start of the process. */
  readonly homeNetworks: () => readonly string[];
  /** For how long a gap counts as recent. */
  readonly recentMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Log, "info" | "warn" | "error">;
}

function answerOf(message: Extract<FromProcess, { kind: "reply" | "refusal" }>): CommandAnswer {
  return message.kind === "reply" ? { data: message.data } : { refused: message.reason, ...(message.code && { reason: message.code }) };
}

/** Gives what the process finds to those who make events of it. */
function findingsTaker({ clock, onFound, onDnsThreat, onAnomaly }: SupervisorDeps) {
  const mayReport = createAllowance(clock);
  return (message: Extract<FromProcess, { kind: "found" | "dns_threat" | "anomaly" }>): void => {
    if (message.kind === "found") onFound(message.intrusion);
    else if (message.kind === "dns_threat") onDnsThreat(message.threat);
    else if (mayReport()) onAnomaly(message.anomaly, message.at);
  };
}

/** Starts the traffic process, and speaks to whichever runs. */
export function createTrafficSupervisor(deps: SupervisorDeps): TrafficSupervisor {
  const { clock, log, settings } = deps;
  const pending = createPendingCommands(clock);
  const sums = createSums();
  const gaps = createGaps(clock);
  const memory = createAlertMemory(settings.evidence.after_seconds * 1000, clock);
  const mayRecord = createAllowance(clock);
  const takeFinding = findingsTaker(deps);
  const blame = createRulesBlame(clock);
  let site = deps.site;
  let anomalies: AnomaliesPart | undefined;
  let counters: ProcessCounters | null = null;
  let [restarts, problem]: [number, string | null] = [0, null];

  function receive(message: FromProcess): void {
    switch (message.kind) {
      case "state":
        runner.heard();
        if (gaps.end()) log.info({ gap: gaps.last() }, "traffic is read again");
        counters = message.counters;
        sums.note(message.counters);
        problem = message.counters.problem;
        blame.note(message.counters.rules);
        break;
      case "reply":
      case "refusal":
        pending.settle(message.id, answerOf(message));
        break;
      case "found":
      case "dns_threat":
      case "anomaly":
        takeFinding(message);
        break;
      case "recorded":
        if (mayRecord() && deps.onRecorded(message.data, message.at)) runner.send({ kind: "noted", pcap_id: message.data.pcap_id, state: message.data.state });
        break;
    }
  }

  const runner: Runner = createRunner({
    start: deps.start, maxBytes: fromMegabytes(settings.memory_megabytes), clock, random: deps.random, log, onMessage: receive,
    onStart(send) {
      send({ kind: "begin", settings, data_dir: deps.dataDir, probe_id: deps.probeId(), version: deps.version, spool_bytes: deps.spoolBytes, site, gaps: gaps.known(), home_networks: [...deps.homeNetworks()], anomalies });
      for (const alert of memory.recent()) send({ kind: "alert", alert });
    },
    onEnd(how) {
      pending.failAll("the traffic process ended; try again");
      if (blame.ended()) deps.onRulesFailed(`the traffic process ended ${MAX_ENDS} times soon after it had taken them: ${how}`);
      sums.endProcess();
      counters = null;
      restarts += 1;
      problem = `the traffic process ended (${how}) and is started again`;
      gaps.begin(`the traffic process ended: ${how}`);
    },
  });

  return {
    alert(notice) {
      memory.add(notice);
      runner.send({ kind: "alert", alert: notice });
    },
    command(command, data) {
      if (runner.state() === "failed") return Promise.resolve({ refused: "the traffic process is being started again; try again in some seconds", reason: "not-now" });
      return pending.add((id) => runner.send({ kind: "command", id, command, data }));
    },
    changed: (kind) => void runner.send({ kind }),
    rules: () => counters?.rules ?? null,
    configure(next) {
      site = next;
      runner.send({ kind: "site", site });
    },
    acceptAnomalies(part) {
      anomalies = part;
      runner.send({ kind: "anomalies", anomalies });
    },
    health: () => toHealth({ state: runner.state(), rssBytes: runner.rssBytes(), restarts, problem, gap: gaps.last(), counters, settings }),
    sums: () => ({ ...sums.read(), recentGaps: gaps.since(deps.recentMs) }),
    close: () => runner.close(),
  };
}
