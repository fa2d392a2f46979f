import type { FrameBlock, openTrafficCapture } from "@lanthorn/packet-io";
import type { CaptureSettings } from "@lanthorn/contract/uplink";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { privacyOf } from "../capture-files/privacy.ts";
import { createEvidence, type Evidence } from "../evidence/evidence.ts";
import type { FromProcess, ProcessCounters, ToProcess } from "../messages.ts";
import { createRequestedCaptures, type RequestedCaptures } from "../on-demand/captures.ts";
import type { CompileFilter } from "../on-demand/filter-program.ts";
import { createWatches, type Watches } from "../on-demand/watches.ts";
import type { BlockQueue } from "../ring/block-queue.ts";
import { createFrameHeaders } from "../ring/frame-headers.ts";
import { createMemoryRing, type MemoryRing, type RingBlock } from "../ring/memory-ring.ts";
import { toMessage } from "../rules/finding-message.ts";
import { createRuleEngine, type RuleEngine } from "../rules/rule-engine.ts";
import type { Sink } from "../sinks.ts";
import { createFramePath } from "./frame-path.ts";
import { createInterfaceReader, type InterfaceReader } from "./interface-reader.ts";
import type { Shedder } from "./shedder.ts";
import type { TrafficParts } from "./traffic-parts.ts";
import { openFlows, type WatchedFlows } from "./watched-flows.ts";

/** The first message. */
export type Begin = Extract<ToProcess, { kind: "begin" }>;

/** What the process does from its first message on. */
export interface TrafficProcess {
  onMessage(message: Exclude<ToProcess, Begin>): void;
  /** Finishes its files. */
  close(): Promise<void>;
}

const TICK_MS = 250;
const STATE_MS = 1000;

/** What a process needs of the world. */
export interface ProcessDeps {
  readonly begin: Begin;
  readonly openCapture: typeof openTrafficCapture;
  readonly compile: CompileFilter;
  readonly parts: TrafficParts;
  readonly send: (message: FromProcess) => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Log, "info" | "warn" | "error">;
}

/** Wires ring, sinks and interfaces. */
export function createTrafficProcess(deps: ProcessDeps): TrafficProcess {
  const { begin: { settings, gaps }, parts, clock, log } = deps;
  let site: CaptureSettings = deps.begin.site;
  const headers = createFrameHeaders();
  const ringBytes = parts.ringMemory.length;
  const ring = openRing(deps, (block) => {
    queue.leaving(block);
    evidence.onEvict(block);
  });
  const shared = { compile: deps.compile, interfaces: settings.interfaces, snapLength: settings.snap_length, open: parts.open, clock };
  const evidence = createEvidence({
    ring, headers, settings: settings.evidence, snapLength: settings.snap_length, isWanted: () => site.evidence, open: parts.open, clock, log,
  });
  for (const gap of gaps) evidence.addGap(gap);
  const rules: RuleEngine = openRules(deps, () => flows.frame());
  const flows = openFlows(deps, { rules, behaviour: parts.behaviour, numbers: parts.flowNumbers });
  rules.load();
  flows.loadNames();
  const captures = createRequestedCaptures({ ...shared, settings: settings.on_demand });
  const watches = createWatches({ ...shared, privacy: () => privacyOf(site) });
  // In the order of their importance: at overload the last are left out first. The ring itself is before them all.
  const sinks: readonly Sink[] = [ringSink(), evidence, onDemandSink(captures, watches), ...flows.sinks, ...parts.sinks];
  // Said where the frames would be, behind all that came before them.
  const sayMissing = (interfaceId: number, frames: number, why: string) => queue.behind(() => {
    for (const sink of sinks) sink.onMissing?.(interfaceId, frames, why);
  });
  const readers = openReaders({ ring, take: (block, interfaceId) => take(block, interfaceId), onMissing: sayMissing }, deps);
  const kernelLoad = () => readers.reduce((most, reader) => Math.max(most, reader.load()), 0);
  const { queue, shedder, take } = createFramePath({ ring, ringBytes, sinks, kernelLoad, clock, log });

  const sendState = () => void deps.send({ kind: "state", counters: readCounters({ ring, shedder, readers, captures, evidence, flows, rules, ringBytes, parts }) });
  const tick = () => {
    const now = clock.now();
    for (const reader of readers) reader.tick();
    shedder.look();
    const { load } = shedder.state();
    parts.noteLoad(load);
    rules.noteLoad(load);
    for (const sink of sinks) sink.tick?.(now);
    ring.tick(clock.monotonic());
  };
  const stops = [clock.every(TICK_MS, tick), clock.every(STATE_MS, sendState)];
  sendState();

  return {
    onMessage: createReceiver(deps, {
      captures, watches, evidence, rules, flows, queue,
      onSite(now) {
        site = now;
        parts.configure(now);
        watches.configure();
      },
    }),
    async close() {
      for (const stop of stops) stop();
      for (const reader of readers) reader.close();
      await queue.close();
      await rules.close();
      await Promise.all(sinks.map((sink) => sink.close()));
      await parts.close();
    },
  };
}

/** What messages reach. */
interface MessageReach {
  readonly captures: RequestedCaptures;
  readonly watches: Watches;
  readonly evidence: Evidence;
  readonly rules: RuleEngine;
  readonly flows: WatchedFlows;
  readonly queue: BlockQueue;
  readonly onSite: (site: CaptureSettings) => void;
}

/** Each message to whom it is for. */
function createReceiver(deps: ProcessDeps, { captures, watches, evidence, rules, flows, queue, onSite }: MessageReach): TrafficProcess["onMessage"] {
  const { parts } = deps;
  return (message) => {
    switch (message.kind) {
      case "site":
        return onSite(message.site);
      case "alert":
        return evidence.notice(message.alert);
      case "command":
        return void carryOut(message, deps, { captures, watches, handedOn: () => new Promise((resolve) => queue.behind(resolve)) });
      case "noted":
        return parts.noted(message.pcap_id, message.state);
      case "anomalies":
        return parts.behaviour.configure(message.anomalies);
      case "rules":
        return rules.load();
      case "names":
        return flows.loadNames();
      case "countries":
        return parts.behaviour.loadCountries();
    }
  };
}

function openRing({ begin: { settings }, parts }: ProcessDeps, onEvict: (block: RingBlock) => void): MemoryRing {
  return createMemoryRing({ memory: parts.ringMemory, seconds: Math.max(settings.ring_seconds, settings.evidence.before_seconds), onEvict });
}

function openRules({ begin: { data_dir: dataDir, home_networks: homeNetworks }, send, clock, log }: ProcessDeps, frame: () => Uint8Array | null): RuleEngine {
  return createRuleEngine({ dataDir, homeNetworks, frame, clock, log, send: (finding) => send({ kind: "found", intrusion: toMessage(finding) }) });
}

/** Each interface, whose blocks go into the ring first. */
function openReaders(
  { ring, take, onMissing }: {
    readonly ring: MemoryRing; readonly take: (block: FrameBlock, interfaceId: number) => number; readonly onMissing: (interfaceId: number, frames: number, why: string) => void;
  },
  { begin: { settings }, openCapture, clock, log }: ProcessDeps,
): readonly InterfaceReader[] {
  return settings.interfaces.map((name, interfaceId) => createInterfaceReader({
    name, snapLength: settings.snap_length, open: openCapture, clock, log,
    allocate: (octets) => ring.allocate(octets), onBlock: (block) => take(block, interfaceId), onMissing: (frames, why) => onMissing(interfaceId, frames, why),
  }));
}

/** The ring is filled before the sinks; in their table it is the one that is never left out. */
function ringSink(): Sink {
  return { name: "ring", onBlock: () => undefined, shed: () => undefined, close: () => Promise.resolve() };
}

/** Captures and live views: whoever asked for them looks at the same frames. */
function onDemandSink(captures: RequestedCaptures, watches: Watches): Sink {
  return {
    name: "on_demand",
    onBlock(block, interfaceId) {
      captures.onBlock(block, interfaceId);
      watches.onBlock(block, interfaceId);
    },
    shed: (frames, _octets, interfaceId) => captures.missing(interfaceId, frames, "overload", "probe"),
    onMissing: (interfaceId, frames, why) => captures.missing(interfaceId, frames, why, "kernel"),
    tick() {
      captures.tick();
      watches.tick();
    },
    close: () => captures.close(),
  };
}

function readCounters({ ring, shedder, readers, captures, evidence, flows, rules, ringBytes, parts }: {
  readonly ring: MemoryRing; readonly shedder: Shedder; readonly readers: readonly InterfaceReader[]; readonly captures: RequestedCaptures;
  readonly evidence: Evidence; readonly flows: WatchedFlows; readonly rules: RuleEngine; readonly ringBytes: number; readonly parts: TrafficParts;
}): ProcessCounters {
  const { seconds, bytes } = ring.state();
  const shed = shedder.state();
  const states = readers.map((reader) => reader.state());
  const problem = [parts.problem(), ...states.map(({ name, problem: text }) => text && `${name}: ${text}`)].find((text) => text !== null) ?? null;
  return {
    interfaces: states.map(({ name, up, frames, octets, droppedByKernel, droppedByInterface }) =>
      ({ name, up, frames, octets, dropped_by_kernel: droppedByKernel + droppedByInterface })),
    shed: shed.sinks.map(({ name, frames, octets }) => ({ sink: name, frames, octets })).filter(({ frames }) => frames > 0),
    dns: flows.dns(), anomaly: parts.behaviour.counters(),
    ring: { seconds, bytes: Math.min(bytes, ringBytes) }, captures: [...captures.state()], continuous: parts.continuous(), flows: flows.state(),
    rules: rules.state(),
    problem: problem?.slice(0, 512) ?? null, dropped_by_probe: parts.droppedByProbe(), alerts_left_out: evidence.state().alertsLeftOut,
    load: Math.min(1, Math.max(0, shed.load)), shedding: shed.shedding,
  };
}

async function carryOut(
  message: Extract<ToProcess, { kind: "command" }>, { parts, send, log }: ProcessDeps, running: Parameters<TrafficParts["command"]>[1],
): Promise<void> {
  const { id } = message;
  try {
    const answer = await parts.command(message, running);
    if ("refused" in answer) send({ kind: "refusal", id, reason: answer.refused.slice(0, 512), ...(answer.reason && { code: answer.reason }) });
    else if (!send({ kind: "reply", id, data: answer.data })) send({ kind: "refusal", id, reason: "the daemon does not read", code: "not-now" });
  } catch (error) {
    log.error({ command: message.command, reason: describeError(error) }, "a command failed");
    send({ kind: "refusal", id, reason: describeError(error).slice(0, 512), code: "not-now" });
  }
}
