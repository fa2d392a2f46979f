/** Ports of a rule's header, with groups, negations and variables resolved. */

/** A set of ports as ranges that are sorted, apart from each other and inclusive, in pairs: from, to, from, to. */
export interface PortSet {
  readonly isAny: boolean;
  readonly ranges: readonly number[];
}
