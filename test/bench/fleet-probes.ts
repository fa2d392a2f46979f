import { setTimeout as pause } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { createSimulatedProbe, type ProbeIdentity, type SimulatedProbe, simulatedEvent } from "../system/simulated-probe.ts";

/** The order that the process of probes reads from its standard input, as JSON. */
export interface FleetOrder {
  readonly seconds: number;
  readonly probes: readonly ProbeIdentity[];
}

/**
 * What it prints as its last line; before, it prints a line when all are connected. Times are in milliseconds, from an event's
 * being said to its being confirmed.
 */
export interface FleetResult {
  readonly said: number;
  readonly acknowledged: number;
  /** From the first event to the last, and how many were confirmed in that time. */
  readonly seconds: number;
  readonly inTime: number;
  /** Of the processor, from when all were connected. */
  readonly processorSeconds: number;
  readonly lag: { readonly p50: number; readonly p99: number; readonly longest: number };
  readonly queues: readonly { readonly queueId: string; readonly said: number; readonly acknowledged: number }[];
}

const TICK_MS = 10;
/** After so long the fleet is what has connected, and what is not confirmed stays so: a busy machine ends the bench too. */
const CONNECT_MS = 60_000;
const DRAIN_MS = 30_000;
/** Below the embedded broker's limit of connections that have not shown a certificate yet. */
const CONNECTING_AT_ONCE = 16;

/** @returns Those that are connected in time. */
async function connect(all: readonly SimulatedProbe[]): Promise<readonly SimulatedProbe[]> {
  const end = performance.now() + CONNECT_MS;
  for (let at = 0; at < all.length && performance.now() < end; at += CONNECTING_AT_ONCE) {
    const some = all.slice(at, at + CONNECTING_AT_ONCE);
    for (const probe of some) probe.open();
    while (!some.every((probe) => probe.isConnected()) && performance.now() < end) await pause(5);
  }
  const connected = all.filter((probe) => probe.isConnected());
  for (const probe of all) if (!connected.includes(probe)) probe.close();
  return connected;
}

/** Connects the probes, has each say one event a second, all evenly spread, and waits until all is confirmed. */
async function run({ seconds, probes: identities }: FleetOrder): Promise<FleetResult> {
  const lags: number[] = [];
  const probes = await connect(identities.map((identity) => createSimulatedProbe(identity, { onLag: (ms) => lags.push(ms) })));
  if (probes.length === 0) throw new Error(`no probe was connected within ${CONNECT_MS / 1000} s`);
  process.stdout.write(`${probes.length} probes are connected\n`);
  const cpuBefore = process.cpuUsage();
  const total = probes.length * seconds;
  const startedAt = performance.now();
  for (let said = 0; said < total; await pause(TICK_MS)) {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * probes.length));
    for (; said < due; said += 1) {
      const probe = said % probes.length;
      probes[probe]?.say(simulatedEvent(probe, Math.floor(said / probes.length)));
    }
  }
  const took = performance.now() - startedAt;
  const inTime = lags.length;
  const end = performance.now() + DRAIN_MS;
  while (probes.some((probe) => probe.acknowledged() < probe.said()) && performance.now() < end) await pause(20);
  const { user, system } = process.cpuUsage(cpuBefore);
  const sorted = lags.toSorted((a, b) => a - b);
  const share = (part: number) => Math.round((sorted[Math.floor((sorted.length - 1) * part)] ?? 0) * 10) / 10;
  for (const probe of probes) probe.close();
  return {
    said: total, acknowledged: lags.length, seconds: took / 1000, inTime, processorSeconds: (user + system) / 1e6,
    lag: { p50: share(0.5), p99: share(0.99), longest: share(1) },
    queues: probes.map((probe) => ({ queueId: probe.queueId, said: probe.said(), acknowledged: probe.acknowledged() })),
  };
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(await text(process.stdin)) as FleetOrder))}\n`);
