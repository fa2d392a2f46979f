/** Rules made ready: filed by kind, protocol, direction and contents, so that no packet is held against all of them. */

import type { Application, BufferStage, Direction } from "../../applications/application.ts";
import type { Condition } from "../../rules/condition.ts";
import type { Refusal } from "../../rules/parse-rule.ts";
import type { BufferGroup, Rule } from "../../rules/rule.ts";
import { EngineRule, isOfApplication } from "./engine-rule.ts";
import { orderRules } from "./order.ts";
import { createRuleScope, type PlacedRule, type RuleScope } from "./rule-scope.ts";
import { applicationsOf, eventName, findUnsupported } from "./support.ts";

/** Protocols of IP that have rules of their own; all others are one. */
export type PacketClass = "tcp" | "udp" | "icmp" | "other";

/** One of each direction. */
export type ByDirection<T> = Readonly<Record<Direction, T>>;

/** Rules about one application's transactions in one direction. */
export interface TransactionScope extends RuleScope {
  readonly application: Application;
  /** By place in the base: the stage from which a rule can be tried, and that at which nothing of it grows any more. */
  readonly ready: ReadonlyMap<number, RuleStages>;
  /** When the buffer of each filter can be searched; `null` where the application does not fill it. */
  readonly filterStages: readonly (BufferStage | null)[];
  /** Rules that are tried with each transaction, whatever it says. */
  readonly always: readonly number[];
}

/** When a rule of a transaction is tried. */
export interface RuleStages {
  readonly first: number;
  readonly last: number;
}

/** Rules, ready to be run. */
export interface RuleBase {
  /** In the order in which they are looked at. */
  readonly rules: readonly EngineRule[];
  /** Rules about addresses alone. */
  readonly addresses: readonly number[];
  /** Rules about what was recognized. */
  readonly recognitions: readonly number[];
  readonly packets: Readonly<Record<PacketClass, ByDirection<RuleScope>>>;
  /** Rules about the bytes of TCP's streams. */
  readonly streams: ByDirection<RuleScope>;
  readonly transactions: ReadonlyMap<string, ByDirection<TransactionScope>>;
  /** Rules about the protocol of a flow alone, by its name. */
  readonly protocols: ReadonlyMap<string, readonly number[]>;
  readonly applications: readonly Application[];
  /** Rules that cannot be run here, each with its reason. */
  readonly refusals: readonly Refusal[];
}

/** Rules that are sorted into kinds in one step. */
const RULES_A_STEP = 250;
const TCP = 6;
const UDP = 17;

/**
 * Makes rules ready in small steps, so that packets go on between them. Run it to its end: what it returns is the base.
 * @param applications What fills the buffers.
 */
export function* buildRuleBase(rules: readonly Rule[], applications: readonly Application[]): Generator<undefined, RuleBase> {
  const refusals: Refusal[] = [];
  const kept: Rule[] = [];
  for (const [index, rule] of rules.entries()) {
    const unsupported = findUnsupported(rule, applications);
    if (unsupported === null) kept.push(rule);
    else refusals.push({ line: rule.line, id: rule.id, gid: rule.gid, ...unsupported });
    if (index % RULES_A_STEP === 0) yield;
  }
  const ordered = yield* orderRules(kept);
  yield;
  const placed: PlacedRule[] = [];
  for (const [place, rule] of ordered.entries()) {
    placed.push({ rule: new EngineRule(rule), place });
    if (place % RULES_A_STEP === 0) yield;
  }
  const files = yield* fileByScope(placed);
  const scopesOf = (name: ScopeName) => eachWay((direction) => createRuleScope(files[name][direction], isPayload));
  const packets = { tcp: yield* scopesOf("tcp"), udp: yield* scopesOf("udp"), icmp: yield* scopesOf("icmp"), other: yield* scopesOf("other") };
  const streams = yield* scopesOf("stream");
  const transactions = new Map<string, ByDirection<TransactionScope>>();
  for (const [application, own] of yield* fileByApplication(placed, applications)) {
    transactions.set(application.name, yield* eachWay((direction) => createTransactionScope(application, own.filter(({ rule }) => rule.isFor(direction)))));
  }
  return {
    rules: placed.map(({ rule }) => rule), addresses: placesOf(placed, "address"), recognitions: placesOf(placed, "recognition"), packets, streams, transactions,
    protocols: fileProtocols(placed), applications, refusals,
  };
}

function* eachWay<T>(create: (direction: Direction) => Generator<undefined, T>): Generator<undefined, ByDirection<T>> {
  return { "to-server": yield* create("to-server"), "to-client": yield* create("to-client") };
}

/** @returns The rules of each application's transactions; of several where several fill what a rule asks for. */
function* fileByApplication(placed: readonly PlacedRule[], applications: readonly Application[]): Generator<undefined, ReadonlyMap<Application, readonly PlacedRule[]>> {
  const found = new Map<Application, PlacedRule[]>();
  for (const one of placed) {
    if (one.place % RULES_A_STEP === 0) yield;
    if (one.rule.kind !== "transaction") continue;
    for (const application of applicationsOf(one.rule.rule, applications)) {
      const list = found.get(application) ?? [];
      found.set(application, list);
      list.push(one);
    }
  }
  return found;
}

function isPayload({ buffer }: BufferGroup): boolean {
  return buffer === "payload";
}

type ScopeName = PacketClass | "stream";

/** @returns The rules of each kind of bytes and direction, in small steps. */
function* fileByScope(placed: readonly PlacedRule[]): Generator<undefined, Readonly<Record<ScopeName, ByDirection<PlacedRule[]>>>> {
  const files: Record<ScopeName, ByDirection<PlacedRule[]>> = { tcp: noRules(), udp: noRules(), icmp: noRules(), other: noRules(), stream: noRules() };
  for (const one of placed) {
    if (one.place % RULES_A_STEP === 0) yield;
    for (const name of scopeNamesOf(one.rule)) {
      if (one.rule.isFor("to-server")) files[name]["to-server"].push(one);
      if (one.rule.isFor("to-client")) files[name]["to-client"].push(one);
    }
  }
  return files;
}

function noRules(): ByDirection<PlacedRule[]> {
  return { "to-server": [], "to-client": [] };
}

/** What is a stream with TCP is a packet with all others. */
function scopeNamesOf({ kind, rule }: EngineRule): readonly ScopeName[] {
  if (kind !== "packet" && kind !== "stream" && kind !== "packet-and-stream") return [];
  const { numbers } = rule.protocol;
  const classes = numbers === null ? ALL_CLASSES : [...new Set(numbers.map(classOf))];
  const packets = kind === "stream" ? classes.filter((name) => name !== "tcp") : classes;
  return kind === "packet" || (numbers !== null && !numbers.includes(TCP)) ? packets : [...packets, "stream"];
}

const ALL_CLASSES: readonly PacketClass[] = ["tcp", "udp", "icmp", "other"];

/** @returns What kind of packets a protocol of IP has. */
export function classOf(protocol: number): PacketClass {
  if (protocol === TCP) return "tcp";
  if (protocol === UDP) return "udp";
  return protocol === 1 || protocol === 58 ? "icmp" : "other";
}

function* createTransactionScope(application: Application, members: readonly PlacedRule[]): Generator<undefined, TransactionScope> {
  const scope = yield* createRuleScope(members, isOfApplication);
  const ready = new Map<number, RuleStages>();
  const shared = new Map<number, RuleStages>();
  for (const { rule, place } of members) {
    const stages = stagesOf(rule.rule, application);
    const key = stages.first * 256 + stages.last;
    const same = shared.get(key) ?? stages;
    shared.set(key, same);
    ready.set(place, same);
    if (ready.size % RULES_A_STEP === 0) yield;
  }
  const { others, byDestinationPort, bySourcePort } = scope.unfiled;
  return {
    ...scope, application, ready, filterStages: scope.filters.map(({ buffer }) => application.buffers.get(buffer) ?? null),
    always: [...new Set([others, ...byDestinationPort.values(), ...bySourcePort.values()].flatMap((places) => [...places]))],
  };
}

/** What grows is tried as soon as all else is there. */
function stagesOf({ buffers, conditions }: Rule, application: Application): RuleStages {
  let [first, last] = [0, 0];
  const add = (stage: BufferStage | undefined) => {
    if (stage === undefined) return;
    if (!stage.grows) first = Math.max(first, stage.stage);
    last = Math.max(last, stage.stage);
  };
  for (const group of buffers) if (isOfApplication(group)) add(application.buffers.get(group.buffer));
  for (const condition of conditions) add(stageOf(condition, application));
  return { first, last };
}

function stageOf(condition: Condition, { numbers, words, events }: Application): BufferStage | undefined {
  if (condition.kind === "number") return numbers.get(condition.field);
  if (condition.kind === "word") return words.get(condition.field);
  if (condition.kind === "tls-time") return numbers.get(`tls.${condition.field}`);
  return condition.kind === "event" && events.has(eventName(condition.event)) ? { stage: WHOLE, grows: true } : undefined;
}

/** Events may come at any time: they are asked for until the end. */
const WHOLE = 255;

function placesOf(placed: readonly PlacedRule[], kind: EngineRule["kind"]): readonly number[] {
  return placed.filter(({ rule }) => rule.kind === kind).map(({ place }) => place);
}

function fileProtocols(placed: readonly PlacedRule[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const { rule, place } of placed) {
    if (rule.kind !== "application") continue;
    for (const name of rule.rule.protocol.applications ?? []) found.set(name, [...(found.get(name) ?? []), place]);
  }
  return found;
}
