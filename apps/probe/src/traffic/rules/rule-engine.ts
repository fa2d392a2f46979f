/** The engine of intrusion detection in the traffic process: its rules, what they find, and how it does. */
import type { IdsState } from "@lanthorn/contract/uplink";
import type { Ids, IdsAlert } from "@lanthorn/ids";
import { type Clock, describeError, type Log, toInstant } from "@lanthorn/runtime";
import type { OpenFlowWatch } from "@lanthorn/traffic";
import type { Finding } from "../../intrusions/finding.ts";
import { createPacedWork } from "../paced-work.ts";
import { createFindingRate } from "./finding-rate.ts";
import { readRuleFiles } from "./rule-files.ts";

/** How the engine does; the daemon adds what it knows itself. */
export type RuleState = Omit<IdsState, "suppressed" | "suricata">;

/** The engine. */
export interface RuleEngine {
  /** For the analyzer; null before there are rules. Another one when the first rules come. */
  watch(): OpenFlowWatch | null;
  /** Reads the rules that are installed now, and uses them when all are ready; until then those before run. */
  load(): void;
  /** Frames that it was given, and was not. */
  count(inspected: number, shed: number): void;
  state(): RuleState;
  /** How much there is to do, 0 to 1: loading waits. */
  noteLoad(load: number): void;
  close(): Promise<void>;
}

type RulesInUse = Pick<RuleState, "state" | "error" | "version" | "loaded_at" | "load_seconds" | "rules" | "refusals">;
const NO_RULES: RulesInUse = { state: "off", error: null, version: null, loaded_at: null, load_seconds: null, rules: { loaded: 0, refused: 0 }, refusals: [] };
const MAX_COSTS = 20;
const COSTS_MS = 10_000;
/** Of the engine's unit of work. */
const STEP_NANOSECONDS = 10;
const TO_MILLISECONDS = 1000;
const MAX_PACKET_BYTES = 2048;
/** As Suricata calls them, in lower case. */
const PROTOCOLS: Readonly<Record<number, string>> = { 1: "icmp", 6: "tcp", 17: "udp", 58: "ipv6-icmp", 132: "sctp" };

/**
 * @param deps.frame The frame that is being analyzed, as much of it as goes with an alert; null between frames.
 * @param deps.send Says a finding to the daemon. @returns False where it does not read.
 */
export function createRuleEngine(deps: {
  readonly dataDir: string;
  readonly homeNetworks: readonly string[];
  readonly frame: () => Uint8Array | null;
  readonly send: (finding: Finding) => boolean;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
}): RuleEngine {
  const { clock, log } = deps;
  const since = toInstant(clock.now());
  const findings = createFindingRate<Finding>({ ...deps, kindOf: flowOf });
  let load = 0;
  const work = createPacedWork({ load: () => load, clock });
  let ids: Ids | null = null;
  const frames = { inspected: 0, shed: 0 };
  let alerts = 0;
  let state: RulesInUse = NO_RULES;
  const readCosts = createCostReader(() => ids, clock);

  function onAlert(alert: IdsAlert): void {
    alerts += 1;
    findings.add(findingOf(alert, deps.frame()));
  }

  async function loadOnce(): Promise<void> {
    const files = await readRuleFiles(deps.dataDir);
    if (files.kind === "none") {
      [ids, state] = [null, NO_RULES];
      return;
    }
    if (files.kind === "unreadable") return fail(files.problem);
    state = { ...state, state: ids === null ? "loading" : "running" };
    const startedAt = clock.monotonic();
    // Not loaded where there are no rules: it would cost every probe some megabytes.
    const [{ createIds }, { loadRules }] = await Promise.all([import("@lanthorn/ids"), import("./load-rules.ts")]);
    const loaded = await loadRules(files.bundle, { ...deps, work });
    if (loaded === null) return;
    if (ids === null) ids = createIds({ base: loaded.base, thresholds: loaded.thresholds, onAlert });
    else ids.replace(loaded.base, loaded.thresholds);
    state = {
      state: "running", error: null, version: files.version, loaded_at: toInstant(clock.now()), load_seconds: Math.round(clock.monotonic() - startedAt) / 1000,
      rules: { loaded: loaded.base.rules.length, refused: loaded.refused }, refusals: loaded.refusals,
    };
    log.info({ version: files.version, ...state.rules, seconds: state.load_seconds }, "other rules of intrusion detection run");
  }

  function fail(problem: string): void {
    log.warn({ reason: problem }, "the rules of intrusion detection cannot be used; those before run on");
    state = { ...state, state: ids === null ? "failed" : "running", error: problem.slice(0, 512) };
  }

  const loads = createLoads(loadOnce, fail);
  return {
    watch: () => ids?.watch ?? null,
    load: () => loads.begin(),
    count(inspected, shed) {
      frames.inspected += inspected;
      frames.shed += shed;
    },
    state: () => ({ ...state, since, frames: { ...frames }, alerts, costs: readCosts() }),
    noteLoad(now) {
      load = now;
    },
    async close() {
      work.close();
      await loads.close();
      findings.close();
    },
  };
}

/** One load after the other; several wishes meanwhile are one. */
function createLoads(loadOnce: () => Promise<void>, fail: (problem: string) => void) {
  let loading: Promise<void> | null = null;
  const wish = { isAgain: false, isClosed: false };

  async function loadAll(): Promise<void> {
    do {
      wish.isAgain = false;
      try {
        await loadOnce();
      } catch (error) {
        fail(describeError(error));
      }
    } while (wish.isAgain && !wish.isClosed);
    loading = null;
  }

  return {
    begin(): void {
      if (loading) wish.isAgain = true;
      else loading = loadAll();
    },
    async close(): Promise<void> {
      wish.isClosed = true;
      await loading;
    },
  };
}

/** All rules are sorted for it, so it is done now and then. */
function createCostReader(engine: () => Ids | null, clock: Pick<Clock, "monotonic">): () => RuleState["costs"] {
  let costs: RuleState["costs"] = [];
  let readAt = -Infinity;
  return () => {
    const ids = engine();
    if (ids !== null && clock.monotonic() - readAt >= COSTS_MS) {
      readAt = clock.monotonic();
      costs = ids.costs(MAX_COSTS).map(({ gid, id, checks, matches, steps }) => (
        { generator_id: gid, signature_id: id, checks, matches, nanoseconds: Math.round(steps * STEP_NANOSECONDS) }
      ));
    }
    return costs;
  };
}

/** A rule and two hosts, and their ports. */
export function flowOf({ rule, source, destination, protocol }: Finding): { readonly wide: string; readonly narrow: string } {
  const wide = `${rule.gid}:${rule.id} ${protocol} ${source.ip} ${destination.ip}`;
  return { wide, narrow: `${wide} ${source.port} ${destination.port}` };
}

function findingOf({ at, rule, direction, source, destination, flow, application, fields, places, wouldBlock }: IdsAlert, frame: Uint8Array | null): Finding {
  return {
    engine: "lanthorn", times: 1, at: at / TO_MILLISECONDS,
    rule: {
      gid: rule.gid, id: rule.id, revision: rule.revision, message: rule.message, category: rule.class?.description ?? "", className: rule.class?.name ?? "", severity: rule.severity, priority: rule.priority,
      techniques: rule.techniques,
    },
    source: { ip: source.ip, port: Math.max(0, source.port) }, destination: { ip: destination.ip, port: Math.max(0, destination.port) }, protocol: PROTOCOLS[flow.protocol] ?? `ip-${flow.protocol}`, application,
    direction, wouldBlock, target: rule.target, matched: places,
    fields: Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : []))),
    packet: frame && Buffer.from(frame.subarray(0, MAX_PACKET_BYTES)),
  };
}
