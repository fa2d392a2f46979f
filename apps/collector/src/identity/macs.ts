/**
 * What a MAC says by itself of whose it is.
 * - `own`: given to one interface for life, by its maker or, for a virtual machine, by its hypervisor.
 * - `random`: made up by the host, and made up anew when it likes.
 * - `virtual`: moves between routers that stand in for each other.
 * - `shared`: many machines have it: adapters of VPN clients and hypervisors that their makers gave one address for all.
 */
export type MacKind = "own" | "random" | "virtual" | "shared";

/** First digits of MACs that say more than their local bit does. The first that fits counts. */
const KNOWN: readonly (readonly [digits: string, kind: MacKind])[] = [
  // QEMU's default MAC is everybody's. Its others are for life: the local bit does not mean random.
  ["525400123456", "shared"],
  ["525400", "own"],
  // VRRP and CARP for IPv4 and IPv6 (RFC 9568 section 7.3), HSRP 1 and 2 (RFC 2281 section 5.4), GLBP.
  ["00005e0001", "virtual"],
  ["00005e0002", "virtual"],
  ["00000c07ac", "virtual"],
  ["00000c9ff", "virtual"],
  ["000573a00", "virtual"],
  ["0007b400", "virtual"],
  ["0007b401", "virtual"],
  ["0007b402", "virtual"],
  ["0007b403", "virtual"],
  // Cisco AnyConnect, Juniper Network Connect, Fortinet's two adapters, GlobalProtect.
  ["00059a3c7a00", "shared"],
  ["00059a3c7800", "shared"],
  ["0205857feb80", "shared"],
  ["00090ffe0001", "shared"],
  ["00090faa0001", "shared"],
  ["025041000001", "shared"],
  // Windows: dial-up and loopback adapters.
  ["005345000000", "shared"],
  ["02004c4f4f50", "shared"],
  // The host's own end of VMware's, VirtualBox's and Parallels' networks, numbered alike on every host.
  ["005056c0000", "shared"],
  ["0a0027000", "shared"],
  ["001c4200000", "shared"],
  // OpenVPN's TAP adapter makes up the rest at each installation; nobody was given 00:ff.
  ["00ff", "random"],
  ["000000000000", "shared"],
];

/** By the first two pairs, since every host of every batch is asked for. */
const BY_START = new Map(KNOWN.map(([digits]) => digits.slice(0, 4)).map((start) =>
  [`${start.slice(0, 2)}:${start.slice(2)}`, KNOWN.filter(([digits]) => digits.startsWith(start))]));

/** @param mac Six lower-case hexadecimal pairs with colons. */
export function macKind(mac: string): MacKind {
  const candidates = BY_START.get(mac.slice(0, 5));
  if (candidates) {
    const digits = mac.replaceAll(":", "");
    const known = candidates.find(([prefix]) => digits.startsWith(prefix));
    if (known) return known[1];
  }
  return (Number.parseInt(mac.slice(0, 2), 16) & 0x02) === 0 ? "own" : "random";
}

/**
 * Prefixes from which hypervisors give addresses to their machines: VMware, Xen, QEMU, Hyper-V, VirtualBox, Parallels, Proxmox,
 * Nutanix.
 */
const HYPERVISORS = new Set([
  "00:50:56", "00:0c:29", "00:05:69", "00:16:3e", "52:54:00", "00:15:5d", "08:00:27", "00:1c:42", "bc:24:11", "50:6b:8d",
]);

/** Whether an interface is a virtual machine's, by the prefix that its hypervisor took. */
export function isVirtualMachine(mac: string): boolean {
  return HYPERVISORS.has(mac.slice(0, 8));
}
