/** Addresses that nothing is sent to. Asked for each frame, so it looks at bytes in place. */
export interface AddressSet {
  /** Whether the address at `offset` is one of them. @param length 4 or 16. */
  holds(bytes: Uint8Array, offset: number, length: number): boolean;
  /** With one of these, nothing goes to all IPv6 nodes: it would reach them too. */
  readonly hasIpv6: boolean;
}
