import { setTimeout as pause } from "node:timers/promises";
import { startScenario, unpackTools } from "../lab/scenarios/run-scenario.ts";
import { letHostsTalk } from "../lab/scenarios/let-hosts-talk.ts";
import { createVariant, type Scenario } from "../lab/scenarios/scenario.ts";
import { SCENARIO_LAN, SCENARIOS } from "../lab/scenarios/scenarios.ts";
import { openSite, type Site } from "../system/site.ts";
import { type GuardsWatch, type SeenIncident, watchGuards } from "./guards-watch.ts";

const LEARNING_MS = 30_000;
const QUIET_SECONDS = 6;
/** An alert that comes later is none. */
const LATEST_MS = 20_000;
/** So long an attack goes on once it is seen: a second alert would come by then. */
const GO_ON_MS = 2500;
const NEXT_WITHIN_MS = 1500;

/** What one run of a scenario came to. */
interface Run {
  readonly scenario: Scenario;
  readonly alerts: readonly SeenIncident[];
  /** From its beginning to the first alert of a kind that must be seen; null for none. */
  readonly seconds: number | null;
  readonly unresolved: readonly SeenIncident[];
}

/** One scenario that waits for a lab; `index` counts runs of it. */
interface Job {
  readonly scenario: Scenario;
  readonly index: number;
}

/**
 * Runs every scenario live, against real probes and collectors on labs of their own, after a short learning period: each attack must be
 * seen once and end, and nothing normal may be. Times are from the attack's begin to the event on the collector's stream; alerts of
 * severity `info` are none. Each run has other addresses, and begins at another moment. What was done is said on standard error.
 * @param args `--scenario NAME` for one, `--repeat N` (3), `--labs N` at a time (4), `--json` for all that was seen, on standard error.
 * @throws What a lab, a probe or a collector says that does not start, when all the others are closed.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { scenarios, repeat, labs, isJson } = readArguments(args);
  for (const scenario of scenarios) await unpackTools(scenario);
  const jobs = Array.from({ length: repeat }, (_, index) => scenarios.map((scenario): Job => ({ scenario, index }))).flat();
  const waiting = [...jobs];
  const runs: Run[] = [];
  const quiet: SeenIncident[] = [];
  const configured = configuration(scenarios);
  const onDone = (done: Run) => {
    runs.push(done);
    const seen = describe(done);
    process.stderr.write(`${runs.length}/${jobs.length} ${seen.scenario}: ${seen.right ? "right" : "WRONG"}${seen.seconds === null ? "" : `, seen after ${seen.seconds.toFixed(1)} s`}\n`);
    if (isJson || !seen.right) process.stderr.write(`${JSON.stringify(seen)}\n`);
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(labs, jobs.length) }, async () => {
    try {
      await runInLab({ configured, waiting, onDone, onQuiet: (incidents) => quiet.push(...incidents) });
    } catch (error) {
      // The others end what they do, and nothing more.
      waiting.length = 0;
      throw error;
    }
  }));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  for (const { kind, subject, detail } of quiet) process.stderr.write(`${JSON.stringify({ scenario: "learning", kind, subject, detail })}\n`);
  console.log(JSON.stringify(summarize(runs, quiet.length)));
}

/** Takes what waits, one after the other, on a lab of its own. */
async function runInLab({ configured, waiting, onDone, onQuiet }: {
  readonly configured: string; readonly waiting: Job[]; readonly onDone: (done: Run) => void; readonly onQuiet: (incidents: readonly SeenIncident[]) => void;
}): Promise<void> {
  const site = await openSite({ hosts: SCENARIO_LAN, events: ["rogue_detected"], probeToml: configured });
  const watch = watchGuards(site.frames);
  try {
    await letHostsTalk(site.lab, LEARNING_MS + 3000);
    onQuiet(watch.incidents());
    let sequence = 0;
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      onDone(await runOnce(job, { site, watch, sequence }));
      sequence += 1;
    }
  } finally {
    watch.close();
    await site.close();
  }
}

function readArguments(args: readonly string[]) {
  const value = (name: string) => args[args.indexOf(name) + 1];
  const number = (name: string, usual: number) => {
    const given = args.includes(name) ? Number(value(name)) : usual;
    if (!Number.isInteger(given) || given < 1 || given > 20) throw new Error(`${name} takes a number from 1 to 20`);
    return given;
  };
  const wanted = args.flatMap((arg, index) => (arg === "--scenario" ? [args[index + 1] ?? ""] : []));
  const unknown = wanted.find((name) => !SCENARIOS.some((scenario) => scenario.name === name));
  if (unknown !== undefined) throw new Error(`there is no scenario "${unknown}"; see them with: npm run lab -- scenarios`);
  const scenarios = SCENARIOS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  return { scenarios, repeat: number("--repeat", 3), labs: number("--labs", 4), isJson: args.includes("--json") };
}

/** The probe learns for a short while, and sees an end soon. */
function configuration(scenarios: readonly Scenario[]): string {
  const servers = [...new Set(scenarios.flatMap(({ dhcpServers = [] }) => dhcpServers))];
  const routers = [...new Set(scenarios.flatMap(({ routers: declared = [] }) => declared))];
  return [
    "[guards]", `learning_minutes = ${LEARNING_MS / 60_000}`, `quiet_seconds = ${QUIET_SECONDS}`, `dhcp_servers = ${JSON.stringify(servers)}`,
    `routers = ${JSON.stringify(routers)}`,
  ].join("\n");
}

async function runOnce(
  { scenario, index }: Job, { site, watch, sequence }: { readonly site: Site; readonly watch: GuardsWatch; readonly sequence: number },
): Promise<Run> {
  const before = watch.incidents().length;
  const alerts = () => watch.incidents().slice(before);
  const first = () => alerts().find(({ kind }) => scenario.guards.some((guard) => guard === kind));
  const running = await startScenario(site.lab, scenario, createVariant(sequence, index));
  try {
    if (scenario.kind === "normal") {
      await pause(scenario.seconds * 1000);
    } else {
      for (const end = performance.now() + LATEST_MS; !first() && performance.now() < end;) await pause(50);
      if (first()) await pause(GO_ON_MS);
    }
  } finally {
    await running.stop();
  }
  const unresolved = await watch.untilOver(alerts, (QUIET_SECONDS + 20) * 1000);
  await pause(Math.random() * NEXT_WITHIN_MS);
  const arrivedAt = first()?.arrivedAt;
  return { scenario, alerts: alerts(), seconds: arrivedAt === undefined ? null : Math.max(0, arrivedAt - running.beganAt()) / 1000, unresolved };
}

function describe({ scenario, alerts, seconds, unresolved }: Run) {
  const isRight = scenario.kind === "attack" ? seconds !== null && alerts.length === 1 : alerts.length === 0;
  return {
    scenario: scenario.name, kind: scenario.kind, right: isRight && unresolved.length === 0, seconds,
    alerts: alerts.map(({ kind, subject, severity, detail }) => ({ kind, subject, severity, detail })),
    unresolved: unresolved.map(({ kind, subject }) => ({ kind, subject })),
  };
}

function summarize(runs: readonly Run[], quiet: number) {
  const attacks = runs.filter(({ scenario }) => scenario.kind === "attack");
  const normal = runs.filter(({ scenario }) => scenario.kind === "normal");
  const seconds = attacks.flatMap((one) => (one.seconds === null ? [] : [one.seconds])).toSorted((a, b) => a - b);
  return {
    bench: "guards", attacks: attacks.length, seen: seconds.length,
    seconds_to_alert_p95: seconds.length === 0 ? null : Math.round((seconds[Math.ceil(seconds.length * 0.95) - 1] ?? 0) * 100) / 100,
    normal: normal.length, false_alarms: quiet + normal.reduce((sum, { alerts }) => sum + alerts.length, 0),
    alerts_per_attack_max: Math.max(0, ...attacks.map(({ alerts }) => alerts.length)),
    unresolved_after_end: runs.reduce((sum, { unresolved }) => sum + unresolved.length, 0),
  };
}
