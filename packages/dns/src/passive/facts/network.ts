/** The network that an address is in, so large that two of one provider's are mostly in one. @param bytes Four or sixteen. @returns Of /16, or of /32 for IPv6. */
export function networkOf(bytes: Uint8Array): string {
  return bytes.length === 4 ? `${bytes[0]}.${bytes[1]}` : `${bytes[0]}:${bytes[1]}:${bytes[2]}:${bytes[3]}`;
}
