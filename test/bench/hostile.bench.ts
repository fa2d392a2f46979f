import { type ChildProcess, fork, spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ATTACKS } from "./hostile-attacks.ts";
import { countAlerts, countChanged, countLost, makeRoom, readForeignRows } from "./hostile-foreign.ts";
import type { AttackResult, WitnessFigures, WitnessOrder, WitnessQuestion } from "./hostile-order.ts";
import { openWorld, type World } from "./hostile-world.ts";

const SECONDS = 9;
const SETTLE_MS = 500;
/** An attacker's process that has not ended by itself so long after its time is killed. */
const GRACE_MS = 20_000;
/** What an attack has left to do is done before the next one, or counted there. */
const RECOVER_MS = 15_000;
const RECOVERED_MS = 100;
/** The well-behaved wait 30 s for what is not acknowledged. */
const ANSWER_MS = 45_000;

/**
 * A collector under one attack after the other, with a well-behaved probe and a well-behaved client beside it. The latencies are theirs:
 * from asking for the health, each time on a new connection, to its 200; and from publishing an event to its acknowledgement. They and
 * the attackers are processes of their own, the attackers with less of the processor. `lost` are the good probe's events that are not in
 * the log, and `foreign_rows_changed` rows of another tenant and devices that others know better. The first line is of nobody's attack.
 * The last line is JSON; the bars are 250 ms, 2 s and 400 MB. `--only NAME` makes one attack, `--seconds N` each longer or shorter.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { names, seconds } = readArguments(args);
  const world = await openWorld();
  const witness = startWitness(world.witness);
  const all: Figures[] = [];
  try {
    await witness.connected();
    await pause(2000);
    all.push(await observe({ world, witness }, "nobody", () => pause(5000).then(() => null)));
    for (const name of names) all.push(await observe({ world, witness }, name, () => attack(world, name, seconds)));
    const last = await witness.ask("stop");
    const worst = (of: (figures: Figures) => number) => Math.max(...all.map(of));
    console.log(JSON.stringify({
      bench: "hostile", attacks: names.length,
      health_worst_ms: worst((each) => each.healthWorst), ack_worst_ms: worst((each) => each.ackWorst),
      rss_peak_mb: worst((each) => each.rss), lost: countLost(world, last.queueId, last.said),
      foreign_rows_changed: all.reduce((sum, each) => sum + each.changed, 0),
    }));
  } finally {
    witness.close();
    await world.close();
  }
}

interface Figures {
  readonly healthWorst: number;
  readonly ackWorst: number;
  readonly rss: number;
  readonly changed: number;
}

function readArguments(args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options: { only: { type: "string", multiple: true }, seconds: { type: "string" } } });
  const seconds = Number(values.seconds ?? SECONDS);
  const isLength = Number.isInteger(seconds) && seconds >= 3 && seconds <= 600;
  if (!isLength) throw new Error(`--seconds takes a number from 3 to 600, not ${values.seconds}`);
  const names = values.only ?? Object.keys(ATTACKS);
  const unknown = names.find((name) => !Object.hasOwn(ATTACKS, name));
  if (unknown !== undefined) throw new Error(`there is no attack ${unknown}; there are: ${Object.keys(ATTACKS).join(", ")}`);
  return { names, seconds };
}

/** Runs `during` and prints what the well-behaved met meanwhile. */
async function observe(
  { world, witness }: { readonly world: World; readonly witness: Witness }, name: string, during: () => Promise<AttackResult | null>,
): Promise<Figures> {
  const before = readForeignRows(world);
  const [size, alerts] = [databaseSize(world), countAlerts(world)];
  forgetPeak(world.collector.pid);
  await witness.ask("begin");
  const result = await during();
  await pause(SETTLE_MS);
  const met = await witness.ask("end");
  if (name === "mac-flood") await makeRoom(world);
  // The good probe says again what is true: it counts for more than what was claimed of the future.
  await witness.ask("reassert");
  const figures = {
    healthWorst: Math.round(met.healthWorst), ackWorst: Math.round(met.ackWorst), rss: peakMegabytes(world.collector.pid),
    changed: countChanged(before, readForeignRows(world, before)),
  };
  const grown = `database ${signed(databaseSize(world) - size)} MB, alerts +${countAlerts(world) - alerts}`;
  console.log(`${name.padEnd(17)}${result === null ? "" : `${describe(result)}; `}${grown}`);
  const health = `health worst ${figures.healthWorst} p99 ${Math.round(met.healthP99)} ms`;
  console.log(`${" ".repeat(17)}${health}, list worst ${Math.round(met.listWorst)} ms, ` +
    `ack worst ${figures.ackWorst} ms, ${met.failed} of ${met.requests} failed, timers late by ${Math.round(met.ownWorst)} ms, ` +
    `rss ${figures.rss} MB, changed ${figures.changed}`);
  await recovered(world);
  return figures;
}

/** Waits until the collector answers as quickly as ever, five times, or for long enough. */
async function recovered({ collector, witness }: World): Promise<void> {
  const end = performance.now() + RECOVER_MS;
  for (let quick = 0; quick < 5 && performance.now() < end;) {
    const startedAt = performance.now();
    const answer = await fetch(`${collector.url}/api/health`, { headers: { "x-api-key": witness.apiKey } }).catch(() => null);
    quick = answer?.ok === true && performance.now() - startedAt < RECOVERED_MS ? quick + 1 : 0;
    await pause(50);
  }
}

function describe({ sent, bytes, answers }: AttackResult): string {
  const counts = Object.entries(answers).toSorted(([, a], [, b]) => b - a).map(([what, count]) => `${what} ${count}`);
  return `sent ${sent}, ${Math.round(bytes / 1e6)} MB; answered ${counts.join(", ") || "by nothing"}`;
}

/** Makes one attack in a process of its own, with less of the processor, which ends with this one. */
async function attack({ order }: World, name: string, seconds: number): Promise<AttackResult> {
  const script = fileURLToPath(new URL("./hostile-attacker.ts", import.meta.url));
  const program = ["-n", "10", "setpriv", "--pdeathsig", "KILL", process.execPath, ...process.execArgv, script];
  const child = spawn("nice", program, { stdio: ["pipe", "pipe", "inherit"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), (seconds * 1000) + 5000 + GRACE_MS);
  child.stdin.end(JSON.stringify({ ...order, attack: name, seconds }));
  const said = await text(child.stdout);
  clearTimeout(timer);
  const last = said.trim().split("\n").at(-1) ?? "";
  return last.startsWith("{") ? JSON.parse(last) as AttackResult : { sent: 0, bytes: 0, answers: { "the attacker was killed": 1 } };
}

interface Witness {
  ask(question: WitnessQuestion): Promise<WitnessFigures>;
  /** Resolves when the good probe is connected. */
  connected(): Promise<void>;
  close(): void;
}

function startWitness(order: WitnessOrder): Witness {
  const child: ChildProcess = fork(fileURLToPath(new URL("./hostile-witness.ts", import.meta.url)));
  child.send(order);
  const ask = (question: WitnessQuestion) => new Promise<WitnessFigures>((resolve, reject) => {
    const timer = setTimeout(() => finish(() => reject(new Error("the well-behaved do not answer"))), ANSWER_MS);
    const onExit = () => finish(() => reject(new Error("the well-behaved have ended")));
    const onMessage = (figures: WitnessFigures) => finish(() => resolve(figures));
    const finish = (end: () => void) => {
      clearTimeout(timer);
      child.off("exit", onExit);
      child.off("message", onMessage);
      end();
    };
    child.on("exit", onExit);
    child.on("message", onMessage);
    child.send({ question });
  });
  return {
    ask,
    async connected() {
      for (let tries = 0; tries < 100; tries += 1) {
        if ((await ask("begin")).connected) return;
        await pause(100);
      }
      throw new Error("the good probe cannot connect");
    },
    close: () => void child.kill(),
  };
}

/** From now on the peak counts anew. @see proc(5) */
function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

function peakMegabytes(pid: number): number {
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
  return Math.round(Number(kibibytes ?? 0) / 1024);
}

function databaseSize({ file }: World): number {
  return ["", "-wal"].reduce((sum, end) => sum + (statSync(file + end, { throwIfNoEntry: false })?.size ?? 0), 0);
}

function signed(bytes: number): string {
  const megabytes = Math.round(bytes / 1e6);
  return megabytes < 0 ? String(megabytes) : `+${megabytes}`;
}
