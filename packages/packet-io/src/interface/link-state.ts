import { readFileSync } from "node:fs";
import { PacketIoError } from "../errors.ts";

/** What the kernel says of a link; three small files, no process. */
export interface LinkState {
  readonly state: "missing" | "down" | "up";
  /** The kernel's number for it; 0 when unknown. */
  readonly index: number;
  /** How often the carrier came or went; -1 when unknown. */
  readonly carrierChanges: number;
}

/** IFF_UP, "administratively up". @see linux/if.h */
const IFF_UP = 0x1;

/**
 * Reads a link's state from sysfs. Where sysfs shows another network namespace than the process is in (`nsenter --net` without a
 * mount namespace), an interface of the process's own namespace counts as up: only sending and receiving will tell.
 */
export function readLinkState(name: string): LinkState {
  if (!isInterfaceName(name)) return { state: "missing", index: 0, carrierChanges: -1 };
  const flags = readSysfs(name, "flags");
  if (flags === null) {
    return { state: existsInOwnNamespace(name) ? "up" : "missing", index: 0, carrierChanges: -1 };
  }
  return {
    state: (Number(flags) & IFF_UP) === 0 ? "down" : "up",
    index: Number(readSysfs(name, "ifindex") ?? 0),
    carrierChanges: Number(readSysfs(name, "carrier_changes") ?? -1),
  };
}

/** One attribute of an interface, without its line end, or null when it cannot be read (`carrier` of a link that is down, for one). */
export function readSysfs(name: string, attribute: string): string | null {
  try {
    return readFileSync(`/sys/class/net/${name}/${attribute}`, "latin1").trim();
  } catch {
    return null;
  }
}

/** What the kernel takes as a name: 1 to 15 octets without slash, colon or blank, and not a directory. @see dev_valid_name */
export function isInterfaceName(name: string): boolean {
  return /^[^\s/:\0]{1,15}$/.test(name) && name !== "." && name !== "..";
}

/** @throws PacketIoError `interface-missing` or `interface-down`. */
export function requireLinkUp(name: string): LinkState {
  const link = readLinkState(name);
  if (link.state !== "up") throw linkError(name, link.state);
  return link;
}

/** `interface-missing` or `interface-down`, with the command that helps. The caller throws it. */
export function linkError(name: string, state: "missing" | "down"): PacketIoError {
  return state === "missing"
    ? new PacketIoError("interface-missing", `there is no interface ${name}; \`ip link\` lists them`)
    : new PacketIoError("interface-down", `interface ${name} is down; \`ip link set ${name} up\` starts it`);
}

function existsInOwnNamespace(name: string): boolean {
  try {
    return readFileSync("/proc/self/net/dev", "latin1").split("\n").some((line) => line.trimStart().startsWith(`${name}:`));
  } catch {
    return false;
  }
}
