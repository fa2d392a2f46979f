/** Numbers for the IPv6 addresses that a scan meets, so that they are handled as IPv4 addresses are, which are numbers. */
export interface AddressBook {
  /** The address's number, 2^32 or more; a new one where it has none. @param address Sixteen bytes. */
  numberFor(address: Uint8Array): number;
  /** @param at Where its sixteen bytes begin. @returns -1 for an address that was not met. */
  find(bytes: Uint8Array, at: number): number;
}

const FIRST = 2 ** 32;

/** Numbers are given in the order of first use and kept until the book is dropped with its scan. */
export function createAddressBook(): AddressBook {
  const numbers = new Map<string, number>();
  const keyOf = (bytes: Uint8Array, at: number) => Buffer.from(bytes.buffer, bytes.byteOffset + at, 16).toString("latin1");
  return {
    numberFor(address) {
      const key = keyOf(address, 0);
      const known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, FIRST + numbers.size);
      return FIRST + numbers.size - 1;
    },
    find: (bytes, at) => numbers.get(keyOf(bytes, at)) ?? -1,
  };
}
