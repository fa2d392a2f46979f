import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Anomaly, type BehaviourWatch, createBehaviourWatch } from "@lanthorn/anomaly";
import { BEGIN, type Change, DAY, DAYS, HOUR } from "./behaviour-site.ts";
import { type Happening, makeBehaviourWorld } from "./behaviour-world.ts";
import { openWaitingTime } from "./loop-holds.ts";

/** Not those that thresholds were set with: see the package's README. */
const SEEDS = [201, 202, 203];
const BOUNDS = { maxDevices: 2000, maxPairs: 20_000, alertsADay: 5 };
/** An hour is compared when it is over. */
const LATE_SECONDS = 2 * HOUR;
/** Effects of an ordinary change: what goes on for good is new for two days. */
const NEW_SECONDS = 2 * DAY;
const LEARNING_DAYS = 7;
const MAX_PIECE_MS = 10;

/** Counts which planted and which ordinary changes of a simulated site are reported, for each seed; other seeds may be given. */
export function run(args: readonly string[]): Promise<void> {
  const seeds = args.length > 0 ? args.map(Number) : SEEDS;
  const results = seeds.map(runSeed);
  const mean = (read: (result: (typeof results)[number]) => number) => results.reduce((sum, result) => sum + read(result), 0) / results.length;
  const least = Math.min(...results.map(({ found }) => found));
  console.log(JSON.stringify({
    bench: "behaviour", seeds: seeds.length, planted: 20, found: mean((one) => one.found), found_least: least, named: mean((one) => one.named), ordinary: 20,
    alerts_on_ordinary: Math.max(...results.map((one) => one.onOrdinary)), other_alerts: mean((one) => one.others), alerts_per_site_day: Math.max(...results.map((one) => one.aDay)),
    held_back: mean((one) => one.heldBack), flows_per_second: Math.round(mean((one) => one.flowsPerSecond)), longest_piece_ms: Math.max(...results.map((one) => one.longestMs)), longest_piece_net_ms: Math.max(...results.map((one) => one.longestNetMs)), pieces: mean((one) => one.pieces), pieces_over_10_ms: mean((one) => one.overMs),
    state_bytes_a_device: Math.max(...results.map((one) => one.stateBytes)), rss_mb: Math.round(process.memoryUsage().rss / 1e6),
  }));
  return Promise.resolve();
}

/** Times pieces of work by the clock, and without what their thread waited for a processor while others had all of them. */
function createStopwatch() {
  const { waited, close } = openWaitingTime();
  let [pieces, overMs, longestMs, longestNetMs] = [0, 0, 0, 0];
  return {
    time<T>(work: () => T): T {
      const [beganAt, waitedBefore] = [performance.now(), waited()];
      const result = work();
      const ms = performance.now() - beganAt;
      pieces += 1;
      overMs += ms > MAX_PIECE_MS ? 1 : 0;
      longestMs = Math.max(longestMs, ms);
      longestNetMs = Math.max(longestNetMs, ms - (waited() - waitedBefore));
      return result;
    },
    close,
    times: () => ({ pieces, overMs, longestMs: tenths(longestMs), longestNetMs: tenths(longestNetMs) }),
  };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** @returns What collects young objects. The flag shows in contexts made after it. */
function createGarbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: { readonly type: "minor" }) => void;
  return () => collect({ type: "minor" });
}

function feed(watch: BehaviourWatch, happenings: readonly Happening[]): void {
  for (const one of happenings) {
    if ("flow" in one) watch.flow(one.flow);
    else watch.query(one.query);
  }
}

function runSeed(seed: number) {
  const { changes, hours } = makeBehaviourWorld(seed);
  const anomalies: Anomaly[] = [];
  const watch = createBehaviourWatch({ bounds: BOUNDS, onAnomaly: (anomaly) => anomalies.push(anomaly) });
  const pieces = createStopwatch();
  const collectGarbage = createGarbageCollector();
  let [flows, seconds, hour] = [0, 0, 0];
  for (const happenings of hours()) {
    const startedAt = performance.now();
    feed(watch, happenings);
    seconds += (performance.now() - startedAt) / 1000;
    hour += 1;
    // What the simulator leaves is not to be collected in a piece of what is measured.
    collectGarbage();
    pieces.time(() => {
      watch.advance(BEGIN + hour * HOUR);
    });
    while (pieces.time(watch.work));
    flows += happenings.length;
  }
  pieces.close();
  const sent = anomalies.filter(({ isWithinBudget }) => isWithinBudget);
  const causes = sent.map((anomaly) => ({ anomaly, cause: causeOf(anomaly, changes) }));
  const found = changes.filter((change) => change.isPlanted && causes.some(({ cause }) => cause === change));
  for (const change of changes) if (change.isPlanted && !found.includes(change)) console.log(`seed ${seed}: missed: ${describeChange(change)}; ${anomalies.some((one) => causeOf(one, changes) === change) ? "held back" : "no anomaly"}`);
  for (const { anomaly, cause } of causes) if (!cause?.isPlanted) console.log(`seed ${seed}: ${cause ? `of ${cause.name}` : "without a cause"}: ${describe(anomaly)}`);
  const states = [...watch.save()];
  return {
    found: found.length, named: found.filter((change) => causes.some(({ anomaly, cause }) => cause === change && NAMES[change.name] === anomaly.kind)).length,
    onOrdinary: causes.filter(({ cause }) => cause && !cause.isPlanted).length, others: causes.filter(({ cause }) => !cause).length,
    aDay: Number((sent.length / (DAYS - LEARNING_DAYS)).toFixed(2)), heldBack: anomalies.length - sent.length, flowsPerSecond: flows / seconds, ...pieces.times(),
    stateBytes: Math.max(...states.map(({ bytes }) => bytes.length)),
  };
}

const NAMES: Readonly<Record<string, Anomaly["kind"]>> = {
  exfiltration: "exfiltration", scan: "scan", "new admin peer": "admin_protocol", "new country": "new_region", "night activity": "unusual_hour", beacon: "beacon",
};

/** What it is about: a planted change before an ordinary one. */
function causeOf({ device, at }: Anomaly, changes: readonly Change[]): Change | null {
  const causes = changes.filter(({ devices, from, to, isPlanted }) =>
    (devices.length === 0 || devices.includes(device)) && at >= from && at <= (isPlanted ? to : Math.min(to, from + NEW_SECONDS)) + LATE_SECONDS);
  return causes.find(({ isPlanted }) => isPlanted) ?? causes[0] ?? null;
}

function describe({ device, kind, score, at, features, news, peers }: Anomaly): string {
  const parts = features.map(({ name, share, observed, expectedHigh }) => `${name} ${(100 * share).toFixed(0)} % ${observed.toPrecision(3)} (to ${expectedHigh.toPrecision(3)})`).join(", ");
  return `${device} ${kind} ${score.toFixed(1)} on ${describeTime(at)}: ${parts}; ${[...news, ...peers].join(" ")}`;
}

function describeChange({ name, devices, from, to }: Change): string {
  return `${name} of ${devices[0]} on ${describeTime(from)} for ${((to - from) / HOUR).toFixed(1)} h`;
}

function describeTime(at: number): string {
  return `day ${Math.floor((at - BEGIN) / DAY)} ${(((at - BEGIN) % DAY) / HOUR).toFixed(1)} h`;
}
