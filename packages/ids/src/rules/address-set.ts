/** Addresses of a rule's header, with groups, negations and variables resolved. */

/** A set of addresses as ranges that are sorted, apart from each other and inclusive, in pairs: from, to, from, to. */
export interface AddressSet {
  /** All addresses of both versions. */
  readonly isAny: boolean;
  /** Numbers of 32 bits. */
  readonly ipv4: readonly number[];
  /** Numbers of 128 bits. */
  readonly ipv6: readonly bigint[];
}
