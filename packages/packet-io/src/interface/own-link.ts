/**
 * Links with a MAC address of their own on top of an interface, and addresses on them that are answered from there alone: macvlan(4)
 * of Linux, a table of routes for each, and the settings that keep the machine's other addresses out of it. Needs CAP_NET_ADMIN.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createPrefix, formatPrefix, parseIp } from "@lanthorn/packets";
import { PacketIoError } from "../errors.ts";
import { isRecord, readIpRecords, recordsOf, runIp, textOf } from "./ip-command.ts";
import { isInterfaceName, linkError, readLinkState } from "./link-state.ts";

/** A link of our own. */
export interface OwnLink {
  readonly name: string;
  /** The interface below it. */
  readonly parent: string;
  /** Lower case with colons. */
  readonly mac: string;
}

/** An address on a link of our own. */
export interface OwnAddress {
  readonly link: string;
  /** Of either family. */
  readonly ip: string;
  readonly prefixLength: number;
  /** Where packets to other networks go; null for nowhere. */
  readonly gateway: string | null;
  /** Number of a table of routes that nobody else uses, below 2^31. */
  readonly table: number;
}

/** Before those of the main table. @see ip-rule(8) */
const RULE_PRIORITY = "20700";
/** @see Documentation/networking/ip-sysctl.rst of Linux */
const SETTINGS = {
  /** The kernel answers no ARP request: whoever has the link does, and gives way to the address's owner. */
  silent: ["ipv4", "arp_ignore", "8"],
  /** Requests of ours name this link's address, not another one of the machine. */
  announceOwn: ["ipv4", "arp_announce", "2"],
  /** What comes in here for another address of the machine is dropped: its answer would leave elsewhere. */
  strict: ["ipv4", "rp_filter", "1"],
  noIpv6: ["ipv6", "disable_ipv6", "1"],
  noAdvertisements: ["ipv6", "accept_ra", "0"],
  noLinkLocal: ["ipv6", "addr_gen_mode", "1"],
} as const;
type Setting = readonly [family: string, name: string, value: string];

/**
 * Makes a link, up and without an address; one of this name that an earlier process left is taken away before.
 * @param options.family The link carries nothing of the other one.
 * @throws PacketIoError `interface-missing`, or `facts-unavailable` with what `ip` said.
 */
export async function makeOwnLink({ name, parent, mac }: OwnLink, { family }: { readonly family: "ipv4" | "ipv6" }): Promise<void> {
  await removeOwnLink(name);
  await runIp(["link", "add", "link", parent, "name", name, "address", mac, "type", "macvlan", "mode", "private"], parent);
  const settings = family === "ipv4" ? [SETTINGS.silent, SETTINGS.announceOwn, SETTINGS.strict, SETTINGS.noIpv6] : [SETTINGS.silent, SETTINGS.noAdvertisements, SETTINGS.noLinkLocal];
  for (const setting of settings) set(name, setting);
  await runIp(["link", "set", name, "up"], name);
}

/** Takes a link of ours away with its addresses. Nothing happens where there is none. @throws PacketIoError for a link of this name that is no macvlan. */
export async function removeOwnLink(name: string): Promise<void> {
  if (readLinkState(name).state === "missing") return;
  const [link] = await readIpRecords(["-d", "link", "show", "dev", name], name);
  const info = link?.["linkinfo"];
  if (!isRecord(info) || info["info_kind"] !== "macvlan") throw new PacketIoError("facts-unavailable", `${name} is no link of ours: it is left alone`);
  await runIp(["link", "delete", name], name);
}

/**
 * The parent answers ARP for its own addresses alone, and no more for those of links on top of it.
 * @returns What puts it back as it was.
 * @throws PacketIoError `interface-missing` or `facts-unavailable`.
 */
export function answerForOwnAddressesOnly(parent: string): () => void {
  if (!isInterfaceName(parent)) throw linkError(parent, "missing");
  if (readFileSync(`/proc/sys/net/ipv4/conf/${parent}/arp_ignore`, "latin1").trim() !== "0") return () => undefined;
  set(parent, ["ipv4", "arp_ignore", "1"]);
  return () => {
    if (readLinkState(parent).state !== "missing") set(parent, ["ipv4", "arp_ignore", "0"]);
  };
}

/** Puts an address on its link; what is sent from it leaves there. One of IPv6 is tentative until the kernel has looked for a duplicate. @throws PacketIoError `facts-unavailable`. */
export async function addOwnAddress({ link, ip, prefixLength, gateway, table }: OwnAddress): Promise<void> {
  const family = ip.includes(":") ? "-6" : "-4";
  await deleteRule(ip, table);
  await runIp([family, "address", "replace", `${ip}/${prefixLength}`, "dev", link, "noprefixroute"], link);
  const bytes = parseIp(ip);
  if (!bytes) throw new PacketIoError("facts-unavailable", `${ip} is no address`);
  await runIp([family, "route", "replace", formatPrefix(createPrefix(bytes, prefixLength)), "dev", link, "table", String(table)], link);
  if (gateway !== null) await runIp([family, "route", "replace", "default", "via", gateway, "dev", link, "onlink", "table", String(table)], link);
  await runIp([family, "rule", "add", "from", ip, "lookup", String(table), "priority", RULE_PRIORITY], null);
}

/** Takes an address away, the address itself first. Nothing happens where it is not there. */
export async function removeOwnAddress({ link, ip, prefixLength, table }: Omit<OwnAddress, "gateway">): Promise<void> {
  await runIp([ip.includes(":") ? "-6" : "-4", "address", "delete", `${ip}/${prefixLength}`, "dev", link], link).catch(ignoreAbsent);
  await deleteRule(ip, table);
}

/** What the kernel says of an address of IPv6 on a link: `duplicate` where another host answered for it. @see RFC 4862 section 5.4 */
export async function readAddressState(link: string, ip: string): Promise<"absent" | "tentative" | "duplicate" | "ready"> {
  const [record] = await readIpRecords(["address", "show", "dev", link], link);
  const found = recordsOf(record?.["addr_info"]).find((one) => textOf(one["local"]) === ip);
  if (!found) return "absent";
  if (found["dadfailed"] === true) return "duplicate";
  return found["tentative"] === true ? "tentative" : "ready";
}

async function deleteRule(ip: string, table: number): Promise<void> {
  await runIp([ip.includes(":") ? "-6" : "-4", "rule", "delete", "from", ip, "lookup", String(table)], null).catch(ignoreAbsent);
}

function ignoreAbsent(error: unknown): void {
  if (error instanceof PacketIoError && (error.code === "interface-missing" || /Cannot assign|No such (?:file|process)|not found/i.test(error.message))) return;
  throw error;
}

function set(name: string, [family, key, value]: Setting): void {
  if (!isInterfaceName(name)) throw linkError(name, "missing");
  try {
    writeFileSync(`/proc/sys/net/${family}/conf/${name}/${key}`, value);
  } catch (cause) {
    if (family === "ipv6" && (cause as NodeJS.ErrnoException).code === "ENOENT") return;
    throw new PacketIoError("facts-unavailable", `cannot set ${key} of ${name}: it needs CAP_NET_ADMIN, and a /proc/sys/net that can be written`, { cause });
  }
}
