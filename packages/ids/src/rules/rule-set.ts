/** A file of rules, read whole. */

import { censusSteps, type UnsetBit } from "./bit-census.ts";
import { createAddressReader } from "./header/addresses.ts";
import { createPortReader } from "./header/ports.ts";
import { parseRule, type Refusal, type RuleContext } from "./parse-rule.ts";
import type { Rule, RuleClass } from "./rule.ts";
import { createSharedParts } from "./load/shared-parts.ts";
import { type LogicalLine, MAX_RULE_BYTES, readLineSteps } from "./text/lines.ts";

/** What rules are read with. */
export interface RuleSetOptions {
  /** By name, without the dollar sign; what is not here is as in `DEFAULT_VARIABLES`. */
  readonly addresses?: Readonly<Record<string, string>>;
  readonly ports?: Readonly<Record<string, string>>;
  /** Of `parseClassifications`. */
  readonly classes?: ReadonlyMap<string, RuleClass>;
  /** Of `parseReferences`. */
  readonly references?: ReadonlyMap<string, string>;
}

/** Rules that run, and what became of the others. */
export interface RuleSet {
  /** In the order of the file. Of two with the same gid and id, the higher revision. */
  readonly rules: readonly Rule[];
  /** At most `MAX_REFUSALS`. */
  readonly refusals: readonly Refusal[];
  readonly refusedCount: number;
  /** Rules that `requires` leaves out; at most `MAX_REFUSALS`. */
  readonly unmet: readonly Refusal[];
  /** Bits that are asked for and never set by any rule here. */
  readonly unsetBits: readonly UnsetBit[];
}

/** Refusals that are kept; more are counted. */
export const MAX_REFUSALS = 20_000;

/** Text that is read in one step: some milliseconds of work at worst. */
const BYTES_A_STEP = 4096;
/** What a line costs beside its text. */
const BYTES_A_LINE = 64;

const HOME = "[192.168.0.0/16,10.0.0.0/8,172.16.0.0/12,fc00::/7,fe80::/10]";

/** Suricata's names, for a network with private addresses. */
export const DEFAULT_VARIABLES = {
  addresses: {
    HOME_NET: HOME, EXTERNAL_NET: "!$HOME_NET", HTTP_SERVERS: "$HOME_NET", SMTP_SERVERS: "$HOME_NET", SQL_SERVERS: "$HOME_NET", DNS_SERVERS: "$HOME_NET",
    TELNET_SERVERS: "$HOME_NET", AIM_SERVERS: "$EXTERNAL_NET", DC_SERVERS: "$HOME_NET", DNP3_SERVER: "$HOME_NET", DNP3_CLIENT: "$HOME_NET", MODBUS_CLIENT: "$HOME_NET",
    MODBUS_SERVER: "$HOME_NET", ENIP_CLIENT: "$HOME_NET", ENIP_SERVER: "$HOME_NET",
  },
  ports: {
    HTTP_PORTS: "80", SHELLCODE_PORTS: "!80", ORACLE_PORTS: "1521", SSH_PORTS: "22", DNP3_PORTS: "20000", MODBUS_PORTS: "502", FILE_DATA_PORTS: "[$HTTP_PORTS,110,143]",
    FTP_PORTS: "21", GENEVE_PORTS: "6081", VXLAN_PORTS: "4789", TEREDO_PORTS: "3544", SIP_PORTS: "[5060,5061]",
  },
} as const;

/**
 * Reads rules. A rule that cannot be run is refused alone; time and memory grow with the text and no faster.
 * @param bytes As published: one rule a line, comments behind `#`, a backslash where a rule goes on in the next line.
 */
export function parseRules(bytes: Uint8Array, options: RuleSetOptions = {}): RuleSet {
  const steps = parseRulesInSteps([bytes], options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Reads rules as `parseRules` does, some at each step, for who has other work to do meanwhile.
 * @param files In order; lines are counted anew in each.
 */
export function* parseRulesInSteps(files: readonly Uint8Array[], options: RuleSetOptions = {}): Generator<void, RuleSet, void> {
  const context: RuleContext = {
    readers: {
      addresses: createAddressReader({ ...DEFAULT_VARIABLES.addresses, ...options.addresses }), ports: createPortReader({ ...DEFAULT_VARIABLES.ports, ...options.ports }),
    },
    settings: { classes: options.classes ?? new Map(), references: options.references ?? new Map(), shared: createSharedParts() },
  };
  const rules = new Map<number, Rule>();
  const refusals: Refusal[] = [];
  const unmet: Refusal[] = [];
  let refusedCount = 0;
  const refuse = (refusal: Refusal) => {
    refusedCount += 1;
    if (refusals.length < MAX_REFUSALS) refusals.push(refusal);
  };
  let work = 0;
  for (const line of linesOf(files)) {
    if (line === null || work >= BYTES_A_STEP) {
      work = 0;
      yield;
    }
    if (line === null) continue;
    const { number, text } = line;
    work += BYTES_A_LINE + (text?.length ?? 0);
    if (text === null) {
      refuse({ line: number, id: null, gid: 1, keyword: "rule", reason: `it has more than ${MAX_RULE_BYTES} bytes` });
      continue;
    }
    const result = parseRule(text, number, context);
    if (result.kind === "refused") refuse(result.refusal);
    if (result.kind === "unmet" && unmet.length < MAX_REFUSALS) unmet.push(result.refusal);
    if (result.kind !== "rule") continue;
    const { rule } = result;
    const key = rule.gid * 0x1_0000_0000 + rule.id;
    const other = rules.get(key);
    if (!other || rule.revision > other.revision) rules.set(key, rule);
    if (other) refuse({ line: number, id: rule.id, gid: rule.gid, keyword: "sid", reason: `it is also on line ${other.line}; the higher revision counts` });
  }
  yield;
  const kept = [...rules.values()];
  return { rules: kept, refusals, refusedCount, unmet, unsetBits: yield* censusSteps(kept) };
}

function* linesOf(files: readonly Uint8Array[]): Generator<LogicalLine | null> {
  for (const bytes of files) yield* readLineSteps(bytes);
}
