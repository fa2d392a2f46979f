/** Tries one rule against what is at hand, and does what follows where it matches. */

import type { Budget } from "@lanthorn/linear-regex";
import { type GroupPlace, matchRule } from "../../inspection/match-rule.ts";
import type { ThresholdEntry } from "../../rules/files/threshold-file.ts";
import type { Condition } from "../../rules/condition.ts";
import type { Action, Rule } from "../../rules/rule.ts";
import { changeFlowBit, changeFlowNumber, createFlowMemory, holdsFlowBit, holdsFlowNumber } from "../../states/flow-memory.ts";
import { createHostBits, type HostBits } from "../../states/host-bits.ts";
import type { Ends } from "../../states/track-key.ts";
import { addressText, alertPlaces, type IdsAlert } from "../alert.ts";
import type { FlowState } from "../flow/flow-state.ts";
import type { EngineLimits } from "../limits.ts";
import type { EngineRule } from "../rule-base/engine-rule.ts";
import { type HeaderEnd, testEnds } from "../rule-base/header-test.ts";
import type { RuleBase } from "../rule-base/rule-base.ts";
import { type AlertFilter, createAlertFilter } from "./alert-filter.ts";
import { capturesOf } from "./captures.ts";
import { holdsPacketCondition, holdsTransactionCondition } from "./conditions.ts";
import { type Costs, costliest, createCosts, type RuleCost } from "./costs.ts";
import { Subject } from "./subject.ts";

/** What the rules have done. */
export interface EvaluatorCounters {
  readonly checks: number;
  readonly alerts: number;
  /** Tries of rules that were left out, as a packet's steps were spent. */
  readonly shed: number;
  /** Rules that gave up at their own bound of steps. */
  readonly gaveUp: number;
  readonly hostBits: number;
  readonly counts: number;
  /** Bits and counts that went for others. */
  readonly evicted: number;
}

/** What rules are run with. */
export interface EvaluatorOptions {
  readonly base: RuleBase;
  readonly limits: EngineLimits;
  /** Of an operator's threshold.config. */
  readonly thresholds: readonly ThresholdEntry[];
  readonly onAlert: (alert: IdsAlert) => void;
}

/** Runs rules. One of an engine: what it is about is in `subject`. */
export class Evaluator {
  readonly subject = new Subject();
  base: RuleBase;
  readonly #limits: EngineLimits;
  readonly #onAlert: (alert: IdsAlert) => void;
  readonly #hostBits: HostBits;
  readonly #filter: AlertFilter;
  readonly #budget: Budget = { left: 0 };
  #costs: Costs;
  /** Steps that the packet has left. */
  #left = 0;
  /** A `pass` rule matched the packet. */
  #isPassed = false;
  #checks = 0;
  #alerts = 0;
  #shed = 0;
  #gaveUp = 0;

  constructor({ base, limits, thresholds, onAlert }: EvaluatorOptions) {
    this.base = base;
    this.#limits = limits;
    this.#onAlert = onAlert;
    this.#hostBits = createHostBits(limits.hostEntries);
    this.#filter = createAlertFilter(thresholds, limits.hostEntries);
    this.#costs = createCosts(base.rules.length);
  }

  /** A packet's work begins anew. */
  begin(): void {
    this.#left = this.#limits.stepsPerPacket;
    this.#isPassed = false;
  }

  /**
   * @param minimumEnd What matches must end behind this place of the payload: what is before was inspected.
   * @returns Whether the rule matched, though it may give no alert.
   */
  attempt(place: number, minimumEnd = 0): boolean {
    const { subject } = this;
    const rule = this.base.rules[place];
    const { flow } = subject;
    if (!rule || !flow || this.#isPassed || flow.isPassed) return false;
    if (this.#left <= 0) {
      this.#shed += 1;
      return false;
    }
    const { checks, matches } = this.#costs;
    this.#checks += 1;
    checks[place] = (checks[place] ?? 0) + 1;
    this.#left -= STEPS_A_CHECK;
    if (!isAbout(rule, flow, subject) || !this.#holdsStates(rule.rule, flow)) return false;
    const places = this.#findBytes(rule, place);
    if (places === null || (minimumEnd > 0 && !endsBehind(places, minimumEnd))) return false;
    matches[place] = (matches[place] ?? 0) + 1;
    this.#give(rule, flow, places);
    return true;
  }

  replace(base: RuleBase, thresholds?: readonly ThresholdEntry[]): void {
    if (thresholds) this.#filter.replace(thresholds);
    this.base = base;
    this.#costs = createCosts(base.rules.length);
  }

  counters(): EvaluatorCounters {
    return {
      checks: this.#checks, alerts: this.#alerts, shed: this.#shed, gaveUp: this.#gaveUp, hostBits: this.#hostBits.size(), counts: this.#filter.size(),
      evicted: this.#hostBits.evicted() + this.#filter.evicted(),
    };
  }

  costs(count: number): readonly RuleCost[] {
    return costliest(this.#costs, this.base.rules, count);
  }

  #holdsStates({ states }: Rule, flow: FlowState): boolean {
    for (const state of states) {
      const holds = state.kind === "flow-bit" ? holdsFlowBit(state, flow.memory)
        : state.kind === "flow-number" ? holdsFlowNumber(state, flow.memory) : this.#hostBits.holds(state, endsOf(flow, this.subject), this.subject.at);
      if (!holds) return false;
    }
    return true;
  }

  #changeStates({ states }: Rule, flow: FlowState): void {
    for (const state of states) {
      if (state.kind === "host-bit") this.#hostBits.change(state, endsOf(flow, this.subject), this.subject.at);
      else {
        flow.memory ??= createFlowMemory();
        if (state.kind === "flow-bit") changeFlowBit(state, flow.memory);
        else changeFlowNumber(state, flow.memory);
      }
    }
  }

  /** @returns Where the bytes of the rule are, or `null`. */
  #findBytes(rule: EngineRule, place: number): readonly GroupPlace[] | null {
    if (rule.rule.buffers.length === 0) return NO_PLACES;
    const given = Math.min(this.#limits.stepsPerRule, this.#left);
    this.#budget.left = given;
    const outcome = matchRule(rule.rule, this.subject, this.#budget);
    const spent = given - Math.max(this.#budget.left, 0);
    this.#left -= spent;
    this.#costs.steps[place] = (this.#costs.steps[place] ?? 0) + spent;
    if (outcome.outcome === "gave-up") this.#gaveUp += 1;
    return outcome.outcome === "matched" ? outcome.places : null;
  }

  #give({ rule, key, kind }: EngineRule, flow: FlowState, places: readonly GroupPlace[]): void {
    const { subject } = this;
    this.#changeStates(rule, flow);
    if (rule.action === "pass") {
      this.#isPassed = true;
      if (kind !== "packet") flow.isPassed = true;
      return;
    }
    if (!rule.noAlert) {
      const [from, to] = fromAndTo(flow, subject);
      const action = this.#filter.actionOf(rule, { rule: key, from, to, ends: endsOf(flow, subject), atMicroseconds: subject.at });
      if (action !== null && action !== "pass") {
        this.#alerts += 1;
        this.#onAlert(alertOf(rule, { flow, subject, places, action }));
      }
    }
    // As Suricata has it where it does not block: what would be dropped is looked at no more.
    if (rule.action === "drop" && kind === "transaction") flow.isPassed = true;
  }
}

const NO_PLACES: readonly GroupPlace[] = [];

/** What trying a rule costs beside its bytes. */
const STEPS_A_CHECK = 10;

/** Header, flow and conditions, cheapest first. */
function isAbout({ rule, packetConditions, transactionConditions }: EngineRule, flow: FlowState, subject: Subject): boolean {
  const { protocol } = rule;
  if (protocol.numbers !== null && !protocol.numbers.includes(flow.protocol)) return false;
  if (protocol.ipVersion !== null && (protocol.ipVersion === 4) !== flow.client.isIpv4) return false;
  if (rule.flow.direction !== null && rule.flow.direction !== subject.direction) return false;
  if (protocol.applications !== null && !protocol.applications.includes(subject.transaction?.application ?? flow.application)) return false;
  if (!isInFlow(rule, subject)) return false;
  const isToServer = subject.direction === "to-server";
  if (!testEnds(rule, isToServer ? flow.client : flow.server, isToServer ? flow.server : flow.client)) return false;
  for (let index = 0; index < packetConditions.length; index += 1) if (!holdsPacketCondition(packetConditions[index] as Condition, subject, flow)) return false;
  for (let index = 0; index < transactionConditions.length; index += 1) if (!holdsTransactionCondition(transactionConditions[index] as Condition, subject)) return false;
  return true;
}

function isInFlow({ flow: wanted }: Rule, { packet, isEstablished }: Subject): boolean {
  if (wanted.state === "established" && !isEstablished) return false;
  if (wanted.state === "not-established" && isEstablished) return false;
  return wanted.fragments === null || (packet?.isRebuilt ?? false) === (wanted.fragments === "only");
}

function fromAndTo({ client, server }: FlowState, { direction }: Subject): readonly [HeaderEnd, HeaderEnd] {
  return direction === "to-server" ? [client, server] : [server, client];
}

function endsOf(flow: FlowState, subject: Subject): Ends {
  const [from, to] = fromAndTo(flow, subject);
  return { source: addressText(from), destination: addressText(to), flow: flow.key().id };
}

function endsBehind(places: readonly GroupPlace[], minimumEnd: number): boolean {
  const ends = places.filter(({ buffer }) => buffer === "payload").flatMap((place) => place.ends.filter((end) => end >= 0));
  return ends.length === 0 || ends.some((end) => end > minimumEnd);
}

function alertOf(rule: Rule, { flow, subject, places, action }: {
  readonly flow: FlowState; readonly subject: Subject; readonly places: readonly GroupPlace[]; readonly action: Action;
}): IdsAlert {
  const [from, to] = fromAndTo(flow, subject);
  return {
    at: subject.at, frameNumber: subject.frameNumber, rule, direction: subject.direction, flow: flow.key(), source: { ip: addressText(from), port: from.port },
    destination: { ip: addressText(to), port: to.port }, application: subject.transaction?.application ?? flow.application,
    fields: { ...subject.transaction?.describe(), ...capturesOf(rule, places) }, places: alertPlaces(places), wouldBlock: action !== "alert",
  };
}
