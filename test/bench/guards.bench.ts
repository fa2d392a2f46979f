import { setTimeout as pause } from "node:timers/promises";
import { prepareLan, startScenario, unpackTools } from "../lab/scenarios/run-scenario.ts";
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

/**
 * Runs every scenario live, against real probes and collectors on labs of their own, after a short learning period: each attack must be
 * seen once and end, and nothing normal may be. Times are from the attack's begin to the event on the collector's stream; alerts of
 * severity `info` are none.
 * @param args `--scenario NAME` for one, `--repeat N` (3), `--labs N` at a time (2), `--json` for each run on standard error.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { scenarios, repeat, labs, isJson } = readArguments(args);
  for (const scenario of scenarios) await unpackTools(scenario);
  const runs: Run[] = [];
  const quiet: SeenIncident[] = [];
  const parts = Array.from({ length: Math.min(labs, scenarios.length) }, (_, part) => scenarios.filter((_one, index) => index % labs === part));
  await Promise.all(parts.map(async (part) => {
    const site = await openSite({ hosts: SCENARIO_LAN, events: ["rogue_detected"], probeToml: configuration(part) });
    const watch = watchGuards(site.frames);
    try {
      await learn(site);
      quiet.push(...watch.incidents());
      for (let index = 0; index < repeat; index += 1) {
        for (const [at, scenario] of part.entries()) {
          const done = await runOnce(scenario, { site, watch, sequence: index * part.length + at, index });
          runs.push(done);
          if (isJson) process.stderr.write(`${JSON.stringify(describe(done))}\n`);
        }
      }
    } finally {
      watch.close();
      await site.close();
    }
  }));
  if (isJson) for (const { kind, subject, detail } of quiet) process.stderr.write(`${JSON.stringify({ scenario: "learning", kind, subject, detail })}\n`);
  console.log(JSON.stringify(summarize(runs, quiet.length)));
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
  return { scenarios, repeat: number("--repeat", 3), labs: number("--labs", 2), isJson: args.includes("--json") };
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

/** The LAN's hosts talk to each other while the probe learns who they are. */
async function learn({ lab }: Site): Promise<void> {
  const end = performance.now() + LEARNING_MS + 3000;
  await prepareLan(lab);
  const { path, env } = lab.packages.command("ping");
  while (performance.now() < end) {
    await Promise.all([
      ...["web", "printer", "sensor", "laptop"].map((host) => lab.exec(host, path, ["-c", "1", "-W", "1", "10.77.0.1"], { env })),
      lab.exec("gateway", path, ["-c", "1", "-W", "1", "10.77.0.254"], { env }),
      lab.exec("probe", path, ["-c", "1", "-W", "1", "fd4c:616e:7468:77::20"], { env }),
    ]);
    await pause(2000);
  }
}

async function runOnce(
  scenario: Scenario, { site, watch, sequence, index }: {
    readonly site: Site; readonly watch: GuardsWatch; readonly sequence: number; readonly index: number;
  },
): Promise<Run> {
  await pause(Math.random() * NEXT_WITHIN_MS);
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
  const unresolved = await watch.untilOver((QUIET_SECONDS + 20) * 1000);
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
