/** Rules of one kind of bytes and one direction, filed by their best contents and by ports. */

import { type BufferPrefilter, createPrefilterSteps, type FiledRule } from "../../inspection/prefilter.ts";
import type { BufferGroup } from "../../rules/rule.ts";
import type { PortSet } from "../../rules/port-set.ts";
import type { EngineRule } from "./engine-rule.ts";

/** Rules that may match the same bytes. All numbers are places in the rule base. */
export interface RuleScope {
  readonly filters: readonly BufferPrefilter[];
  /** What a filter's numbers stand for. */
  readonly filed: Uint32Array;
  /** Rules without a content, by the only ports that they are about, and those of other ports. */
  readonly unfiled: UnfiledRules;
  readonly count: number;
}

/** Rules that are tried whatever the bytes are. */
export interface UnfiledRules {
  readonly byDestinationPort: ReadonlyMap<number, Uint32Array>;
  readonly bySourcePort: ReadonlyMap<number, Uint32Array>;
  readonly others: Uint32Array;
}

/** A rule and its place in the base. */
export interface PlacedRule {
  readonly rule: EngineRule;
  readonly place: number;
}

/** A rule of more ports than these is looked at for all. */
const MAX_LISTED_PORTS = 32;

const RULES_A_STEP = 250;

/** Files rules in small steps. @param keep Which groups are looked for in this scope. */
export function* createRuleScope(members: readonly PlacedRule[], keep: (group: BufferGroup) => boolean): Generator<undefined, RuleScope> {
  const filed: FiledRule[] = [];
  for (const { rule } of members) {
    filed.push(filedRule(rule, keep));
    if (filed.length % RULES_A_STEP === 0) yield;
  }
  const { buffers, unfiled } = yield* createPrefilterSteps(filed);
  yield;
  return {
    filters: buffers, filed: Uint32Array.from(members, ({ place }) => place), count: members.length,
    unfiled: fileByPort(unfiled.flatMap((index) => members[index] ?? [])),
  };
}

/** The rule as far as the scope's buffers go. */
function filedRule({ rule }: EngineRule, keep: (group: BufferGroup) => boolean): FiledRule {
  if (rule.buffers.every(keep)) return rule;
  const buffers = rule.buffers.filter(keep);
  const named = rule.fastPattern === null ? undefined : rule.buffers[rule.fastPattern.group];
  const group = named === undefined ? -1 : buffers.indexOf(named);
  return { buffers, fastPattern: rule.fastPattern === null || group < 0 ? null : { ...rule.fastPattern, group } };
}

function fileByPort(rules: readonly PlacedRule[]): UnfiledRules {
  const byDestinationPort = new Map<number, number[]>();
  const bySourcePort = new Map<number, number[]>();
  const others: number[] = [];
  for (const { rule, place } of rules) {
    const { source, destination, isBidirectional } = rule.rule;
    const [to, from] = isBidirectional ? [null, null] : [portsOf(destination.ports), portsOf(source.ports)];
    if (to !== null) fileUnder(byDestinationPort, to, place);
    else if (from !== null) fileUnder(bySourcePort, from, place);
    else others.push(place);
  }
  const pack = (map: ReadonlyMap<number, number[]>) => new Map([...map].map(([port, places]) => [port, Uint32Array.from(places)]));
  return { byDestinationPort: pack(byDestinationPort), bySourcePort: pack(bySourcePort), others: Uint32Array.from(others) };
}

function fileUnder(map: Map<number, number[]>, ports: readonly number[], place: number): void {
  for (const port of ports) {
    const list = map.get(port);
    if (list) list.push(place);
    else map.set(port, [place]);
  }
}

function portsOf({ isAny, ranges }: PortSet): readonly number[] | null {
  if (isAny) return null;
  const ports: number[] = [];
  for (let index = 0; index < ranges.length; index += 2) {
    const [from, to] = [ranges[index] ?? 0, ranges[index + 1] ?? 0];
    if (ports.length + to - from >= MAX_LISTED_PORTS) return null;
    for (let port = from; port <= to; port += 1) ports.push(port);
  }
  return ports;
}
