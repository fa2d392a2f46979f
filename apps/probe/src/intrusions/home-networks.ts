/** Which addresses are the site's own. */
import { BlockList, isIP } from "node:net";

/** Not on the Internet: RFC 1918, RFC 3927, RFC 6598, RFC 4193, RFC 4291. */
export const PRIVATE_NETWORKS: readonly string[] = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "fc00::/7", "fe80::/10"];

/**
 * @param named The site's networks, as somebody wrote them down; with these, no others are.
 * @param own Asked when it changes: the subnets of the interface.
 * @returns Whether an address is one of the site's.
 */
export function createHomeNetworks(named: readonly string[], own: () => readonly string[]): (ip: string) => boolean {
  let known: readonly string[] = [];
  let list = listOf(named.length > 0 ? named : PRIVATE_NETWORKS);
  return (ip) => {
    const family = isIP(ip);
    if (family === 0) return false;
    const subnets = named.length > 0 ? known : own();
    if (subnets.length !== known.length || subnets.some((subnet, index) => subnet !== known[index])) {
      known = subnets;
      list = listOf([...PRIVATE_NETWORKS, ...subnets]);
    }
    return list.check(ip, family === 4 ? "ipv4" : "ipv6");
  };
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    list.addSubnet(address, bits === undefined ? (family === "ipv4" ? 32 : 128) : Number(bits), family);
  }
  return list;
}
