/** ICMP has no ports; what asks and what answers belong to one flow, as in Zeek. */

/** What asks → what answers. @see https://www.iana.org/assignments/icmp-parameters and icmpv6-parameters */
const ANSWERS: Readonly<Record<"icmpv4" | "icmpv6", ReadonlyMap<number, number>>> = {
  icmpv4: new Map([[8, 0], [10, 9], [13, 14], [15, 16], [17, 18], [42, 43]]),
  icmpv6: new Map([[128, 129], [130, 131], [133, 134], [135, 136], [139, 140], [144, 145], [146, 147], [160, 161]]),
};
const QUESTIONS = { icmpv4: reverse(ANSWERS.icmpv4), icmpv6: reverse(ANSWERS.icmpv6) };
/** Those that carry an identifier behind their checksum. */
const WITH_IDENTIFIER: Readonly<Record<"icmpv4" | "icmpv6", ReadonlySet<number>>> = {
  icmpv4: new Set([8, 13, 15, 17, 42]), icmpv6: new Set([128, 160]),
};

/** What stands for the ports of an ICMP message. */
export interface IcmpEnds {
  /** Of the one that asks; of a message that is not answered its own. */
  readonly type: number;
  /** The type of the answer; the code of a message that is not answered. */
  readonly counterpart: number;
  readonly isAnswer: boolean;
  readonly hasIdentifier: boolean;
}

function reverse(map: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
  return new Map([...map].map(([question, answer]) => [answer, question]));
}

function endsOf(version: "icmpv4" | "icmpv6", type: number): IcmpEnds | null {
  const question = QUESTIONS[version].get(type);
  const asks = question ?? type;
  const counterpart = ANSWERS[version].get(asks);
  if (counterpart === undefined) return null;
  return { type: asks, counterpart, isAnswer: question !== undefined, hasIdentifier: WITH_IDENTIFIER[version].has(asks) };
}

const TABLES = {
  icmpv4: Array.from({ length: 256 }, (_, type) => endsOf("icmpv4", type)),
  icmpv6: Array.from({ length: 256 }, (_, type) => endsOf("icmpv6", type)),
};

/** @returns Null for a message that is not answered: an error, a report. */
export function icmpEnds(version: "icmpv4" | "icmpv6", type: number): IcmpEnds | null {
  return TABLES[version][type] ?? null;
}
