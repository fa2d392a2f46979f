import { createId, seededRandom, silentLog, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../apps/collector/src/db/schema.ts";
import { createRecomparison } from "../../apps/collector/src/identity/recomparison.ts";
import { createIngestBench } from "../../apps/collector/src/ingest/testing/bench.ts";
import { createSimulatedProbe } from "./identity-probe.ts";
import { createWorld, type Presence, SHARED_MAC } from "./identity-world.ts";

const DAYS = 30;
const SEED = 20_261_120;
const HOUR_MS = 3_600_000;

/**
 * A month of a site with a hundred machines that change addresses, docks, MACs and network cards, are copied and share
 * MACs, through the real ingest and the nightly comparison into SQLite. At the end of each day the devices are held against
 * the machines that they are in truth.
 * The last line is JSON. `wrong_merges`: pairs of machines that were one device at the end of any day; `leftover_duplicates`: devices
 * beyond one for each machine at the end of the month.
 */
export async function run(args: readonly string[]): Promise<void> {
  const seed = args[0] === undefined ? SEED : Number(args[0]);
  if (!Number.isInteger(seed)) throw new Error(`identity takes one number, the seed, not ${args[0]}`);
  const world = createWorld(seed);
  const bench = await createIngestBench({ silentAfterSeconds: 7200 });
  const startedAt = performance.now();
  const { db, reads } = bench.database;
  const recomparison = createRecomparison({ db, reads, merges: bench.merges, clock: bench.clock, log: silentLog });
  try {
    const probe = await bench.addProbe();
    const simulated = createSimulatedProbe(seededRandom(seed));
    const queueId = createId();
    const truth = createTruth();
    const wrong = new Set<string>();
    let events = 0;
    for (let day = 0; day < DAYS; day += 1) {
      for (let hour = 0; hour < 24; hour += 1) {
        await bench.clock.advance(HOUR_MS);
        const present = world.presentAt(day, hour);
        truth.note(present);
        const changes = simulated.watch(present, toInstant(bench.clock.now()));
        if (changes.length === 0) continue;
        const ack = await bench.sendBatch(probe, queueId, events, changes);
        events += changes.length;
        if (ack?.watermark !== events) throw new Error(`a batch was not taken: ${JSON.stringify(ack)}`);
      }
      await recomparison.run();
      const found = await truth.compare(db);
      for (const pair of found.wrong) wrong.add(pair);
      if (day % 10 === 9) console.log(`day ${day + 1}: ${found.devices} devices of ${found.machines} machines seen`);
    }
    const { leftovers, machines } = await truth.compare(db);
    for (const pair of wrong) console.log(`wrong: ${pair}`);
    for (const machine of leftovers) console.log(`left over: ${machine}`);
    const { merges } = await db.selectFrom("device_merges").select((eb) => eb.fn.countAll<number>().as("merges")).executeTakeFirstOrThrow();
    console.log(JSON.stringify({
      bench: "identity", machines, days: DAYS, events, merges, wrong_merges: wrong.size, leftover_duplicates: leftovers.length,
      seconds: Math.round((performance.now() - startedAt) / 100) / 10,
    }));
  } finally {
    await recomparison.close();
    await bench.close();
  }
}

/** Remembers who showed what, and holds devices against it. A MAC that goes from hand to hand is its last holder's. */
function createTruth() {
  const byMac = new Map<string, string>();
  const byIp = new Map<string, string>();
  const byKey = new Map<string, Set<string>>();
  const machines = new Set<string>();
  return {
    note(present: readonly Presence[]) {
      for (const { machine, mac, ip, keys } of present) {
        machines.add(machine);
        if (mac === SHARED_MAC) byIp.set(ip ?? "", machine);
        else byMac.set(mac, machine);
        for (const [field, value] of Object.entries(keys)) {
          const key = `${field} ${value}`;
          byKey.set(key, (byKey.get(key) ?? new Set()).add(machine));
        }
      }
    },
    async compare(db: Kysely<Schema>) {
      const devices = await db.selectFrom("devices").select(["id", "ip", "mac"]).execute();
      const interfaces = await db.selectFrom("interfaces").select(["device_id", "mac"]).execute();
      const keys = await db.selectFrom("device_keys").select(["device_id", "key"]).execute();
      const devicesOf = new Map<string, number>();
      const wrong = devices.flatMap(({ id, ip }) => {
        const macs = interfaces.filter((row) => row.device_id === id).map(({ mac }) => byMac.get(mac));
        // By a key only where one machine alone ever had it: copies of an image share theirs.
        const machines = keys.filter((row) => row.device_id === id).map(({ key }) => [...(byKey.get(key) ?? [])])
          .filter((all) => all.length === 1).flat();
        const own = [...new Set([...macs, ...machines, ...(macs.length === 0 && machines.length === 0 ? [byIp.get(ip)] : [])])]
          .filter((machine) => machine !== undefined).toSorted();
        for (const machine of own) devicesOf.set(machine, (devicesOf.get(machine) ?? 0) + 1);
        return own.slice(1).map((machine) => `${own[0]} and ${machine}`);
      });
      const leftovers = [...devicesOf].flatMap(([machine, count]) => Array.from({ length: count - 1 }, () => machine));
      return { wrong, leftovers, devices: devices.length, machines: machines.size };
    },
  };
}
