import { type BeaconFinding, createBeaconWatch } from "@lanthorn/anomaly";
import { type BeaconPlan, makeBeaconWorld } from "./beacons-world.ts";

const SEEDS = [1, 2, 3];
const BOUNDS = { maxPairs: 20_000, maxDevices: 1000 };

/** Counts which seeded beacons among seeded ordinary traffic are found, over three seeds, and prints each that was missed or false. */
export async function run(args: readonly string[]): Promise<void> {
  if (args.length > 0) throw new Error("beacons takes no arguments");
  const sum = { beacons: 0, found: 0, false: 0, pairs: 0, connections: 0, seconds: 0 };
  for (const seed of SEEDS) {
    const { connections, beacons } = makeBeaconWorld(seed);
    const watch = createBeaconWatch(BOUNDS);
    const findings: BeaconFinding[] = [];
    const startedAt = performance.now();
    for (const connection of connections) {
      const finding = watch.observe(connection);
      if (finding) findings.push(finding);
    }
    sum.seconds += (performance.now() - startedAt) / 1000;
    const found = new Set(findings.map(({ device, peer }) => `${device} ${peer}`));
    const wrong = findings.filter(({ device, peer }) => !beacons.has(`${device} ${peer}`));
    for (const finding of wrong) console.log(`seed ${seed}: false: ${describe(finding)}`);
    for (const [pair, plan] of beacons) if (!found.has(pair)) console.log(`seed ${seed}: missed: ${pair}, ${describePlan(plan)}`);
    sum.beacons += beacons.size;
    sum.found += [...beacons.keys()].filter((pair) => found.has(pair)).length;
    sum.false += wrong.length;
    sum.pairs += new Set(connections.map(({ device, peer }) => `${device} ${peer}`)).size;
    sum.connections += connections.length;
  }
  const { seconds, ...counts } = sum;
  console.log(JSON.stringify({ bench: "beacons", ...counts, connections_per_second: Math.round(sum.connections / seconds) }));
}

function describe({ device, peer, adjusted, score, devicesOfPeer }: BeaconFinding): string {
  const parts = [score.timing, score.size, score.histogram, score.duration].map((part) => part.toFixed(2)).join("/");
  return `${device} ${peer} ${adjusted.toFixed(2)} (timing/size/histogram/duration ${parts}), every ${score.intervalSeconds.toFixed(0)} s, ${devicesOfPeer} devices`;
}

function describePlan({ periodSeconds, jitter, loss, sleeps }: BeaconPlan): string {
  return `every ${periodSeconds.toFixed(0)} s, jitter ${jitter.toFixed(2)}, loss ${loss.toFixed(2)}${sleeps ? ", sleeps" : ""}`;
}
