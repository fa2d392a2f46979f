import type { Reading } from "./decide.ts";

/**
 * Which operating systems are kinds of which. Who says `Linux` of a Debian machine is right and says less; who says `Windows` is wrong.
 * A system that is not here stands for itself. Names as the rules spell them.
 */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  "Linux": [
    "Debian", "Ubuntu", "Red Hat family Linux", "OpenWrt", "DSM", "QTS", "RouterOS", "Android", "Alpine Linux",
    "SUSE Linux", "Arch Linux", "Chrome OS", "FRITZ!OS",
    "Tizen", "webOS", "Cumulus Linux", "UniFi OS", "airOS", "VyOS",
  ],
  "Debian": ["Raspbian", "Proxmox VE"],
  "Red Hat family Linux": ["CentOS", "Rocky Linux", "AlmaLinux", "Fedora", "Red Hat Enterprise Linux", "Oracle Linux", "Amazon Linux"],
  "Android": ["Fire OS"],
  "Darwin": ["macOS", "Mac OS X", "iOS", "iPadOS", "tvOS", "watchOS", "audioOS"],
  "FreeBSD": ["pfSense", "OPNsense", "TrueNAS", "Junos"],
  "Windows": ["Windows Server", "Windows 7", "Windows 8", "Windows 10", "Windows 11"],
  "Windows Server": ["Windows Server 2012", "Windows Server 2016", "Windows Server 2019", "Windows Server 2022", "Windows Server 2025"],
  "Cisco IOS": ["Cisco IOS XE"],
};

const PARENTS: ReadonlyMap<string, string> = new Map(
  Object.entries(FAMILIES).flatMap(([parent, kinds]) => kinds.map((kind) => [kind.toLowerCase(), parent] as const)),
);

/** A system with those that it is a kind of. */
export function readSystem(value: string): Reading {
  const spelled: string[] = [];
  for (let name: string | undefined = value; name !== undefined && spelled.length < 8; name = PARENTS.get(name.toLowerCase())) {
    spelled.push(name);
  }
  return { spelled, keys: spelled.map((name) => name.toLowerCase()) };
}
