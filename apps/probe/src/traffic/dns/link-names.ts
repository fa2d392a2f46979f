/** Names of the link, which no resolver answers: Multicast DNS (RFC 6762), LLMNR (RFC 4795), NetBIOS (RFC 1002). */
const LINK_PORTS: ReadonlySet<number> = new Set([5353, 5355, 137]);

/** Whether a message between these ports is about names of the link. */
export function isLinkName(...ports: readonly number[]): boolean {
  return ports.some((port) => LINK_PORTS.has(port));
}
