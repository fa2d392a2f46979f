import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import type { DebianRoot } from "./debian-packages.ts";
import { LabError } from "./errors.ts";
import { BRANCH } from "./hard-hosts.ts";
import { LAN, PROBE_BOX, SWITCH_BOX } from "./host-plan.ts";
import { REPOSITORY, type WanState } from "./lab-state.ts";
import { DEFAULT_LAB_ID, namesOf } from "./names.ts";
import { type CommandResult, runCommand, tryCommand } from "./run-command.ts";

/** The machine's network namespaces and cables, through `ip`. */
export interface Network {
  /** Runs `ip` with these arguments, inside a namespace or (null) on the machine. */
  ip(namespace: string | null, args: readonly string[]): Promise<string>;
  /** The same, for what may fail. */
  tryIp(namespace: string | null, args: readonly string[]): Promise<CommandResult>;
  /** Several lines for `ip -batch`; stops at the first that fails. */
  batch(namespace: string | null, lines: readonly string[]): Promise<void>;
}

export function createNetwork(packages: DebianRoot): Network {
  const { path, env } = packages.command("ip");
  const inside = (namespace: string | null) => (namespace === null ? [] : ["-n", namespace]);
  return {
    ip: (namespace, args) => runCommand(path, [...inside(namespace), ...args], { env }),
    tryIp: (namespace, args) => tryCommand(path, [...inside(namespace), ...args], { env }),
    async batch(namespace, lines) {
      await runCommand(path, [...inside(namespace), "-batch", "-"], { env, input: `${lines.join("\n")}\n` });
    },
  };
}

/** Written on the loopback of each namespace that a lab makes: whose it is, whatever its name is. */
export function markOf(id: string): string {
  return `lanthorn-lab ${id} ${REPOSITORY}`.slice(0, 250);
}

/** @returns The namespaces on this machine whose name begins like this lab's, each with its mark; "" for one that no lab made. */
export async function findNamespaces(network: Network, id: string): Promise<ReadonlyMap<string, string>> {
  const start = namesOf(id).namespace("");
  const names = (await readdir("/run/netns").catch(() => [])).filter((name) => name.startsWith(start));
  const marks = names.map(async (name) => [name, await readMark(network, name)] as const);
  return new Map(await Promise.all(marks));
}

async function readMark(network: Network, namespace: string): Promise<string> {
  const { stdout } = await network.tryIp(namespace, ["-j", "link", "show", "dev", "lo"]);
  return /"ifalias":"(lanthorn-lab [^"]*)"/.exec(stdout)?.[1] ?? "";
}

export async function addNamespaces(network: Network, id: string, namespaces: readonly string[]): Promise<void> {
  await Promise.all(
    namespaces.map(async (namespace) => {
      await network.ip(null, ["netns", "add", namespace]);
      await network.ip(namespace, ["link", "set", "lo", "alias", markOf(id)]);
    }),
  );
}

/** A bridge that forwards everything at once: no spanning tree, no multicast filter, no address of its own. */
export async function addSwitch(network: Network, namespace: string): Promise<void> {
  await network.batch(namespace, [
    `link add ${SWITCH_BOX.bridge} address ${SWITCH_BOX.mac} type bridge stp_state 0 mcast_snooping 0 forward_delay 0`,
    `link set ${SWITCH_BOX.bridge} up`,
    "link set lo up",
  ]);
  /** What is made after this is silent in IPv6: a switch without an address says nothing. */
  await insideSysctl(namespace, ["ipv6/conf/all/disable_ipv6=1", "ipv6/conf/default/disable_ipv6=1"]);
}

export interface Cable {
  readonly port: string;
  readonly namespace: string;
  readonly interfaceName: string;
  readonly mac: string;
}

/** Runs cables from new ports of the switch into boxes; the boxes' ends stay down. */
export async function addCables(network: Network, switchNamespace: string, cables: readonly Cable[]): Promise<void> {
  await network.batch(
    switchNamespace,
    cables.flatMap(({ port, namespace, interfaceName, mac }) => [
      `link add ${port} address ${portMac(port)} type veth peer name ${interfaceName} address ${mac} netns ${namespace}`,
      `link set ${port} master ${SWITCH_BOX.bridge} up`,
    ]),
  );
}

/** Ports count up from the switch's own MAC, as they do on real ones. */
function portMac(port: string): string {
  const number = Number(port.replace(/\D/g, ""));
  return `${SWITCH_BOX.mac.slice(0, 12)}${[number >> 8, number & 0xff].map((byte) => byte.toString(16).padStart(2, "0")).join(":")}`;
}

/** Gives the probe's box its address on the LAN. It leaves the LAN by the LAN's gateway only, which leads nowhere. */
export async function configureProbeBox(network: Network, namespace: string): Promise<void> {
  await insideSysctl(namespace, ["ipv4/ip_forward=0", "ipv4/conf/all/arp_ignore=1"]);
  await network.batch(namespace, [
    "link set lo up",
    `addr add ${PROBE_BOX.lanAddress}/24 broadcast + dev ${PROBE_BOX.lanInterface}`,
    `addr add ${PROBE_BOX.lanAddress6} dev ${PROBE_BOX.lanInterface} nodad`,
    `link set ${PROBE_BOX.lanInterface} up`,
    `route add default via ${LAN.gateway}`,
    `route add ${BRANCH.subnet} via ${BRANCH.router}`,
  ]);
}

/** The cable between the probe's box and the machine, where the collector is. The machine forwards nothing that comes in by it. */
export async function addWan(network: Network, wan: WanState, probeNamespace: string): Promise<void> {
  await network.batch(null, [`link add ${wan.peer} type veth peer name ${PROBE_BOX.wanInterface} netns ${probeNamespace}`]);
  const conf = (file: string) => `/proc/sys/net/${file.replace("IFACE", wan.peer)}`;
  await writeFile(conf("ipv4/conf/IFACE/forwarding"), "0");
  if (existsSync(conf("ipv6/conf/IFACE/disable_ipv6"))) await writeFile(conf("ipv6/conf/IFACE/disable_ipv6"), "1");
  await network.ip(null, ["addr", "add", `${wan.collectorAddress}/${wan.prefixLength}`, "dev", wan.peer]);
  await network.ip(null, ["link", "set", wan.peer, "up"]);
  await network.batch(probeNamespace, [
    `addr add ${wan.probeAddress}/${wan.prefixLength} dev ${PROBE_BOX.wanInterface}`,
    `link set ${PROBE_BOX.wanInterface} up`,
  ]);
}

async function insideSysctl(namespace: string, settings: readonly string[]): Promise<void> {
  const script = settings.map((setting) => setting.split("=")).map(([key, value]) => `echo ${value} > /proc/sys/net/${key}`);
  await runCommand("nsenter", [`--net=/run/netns/${namespace}`, "sh", "-c", `set -e; ${script.join("; ")}`]);
}

/**
 * Picks four addresses for the cable to the machine, of which none is in use there: two of 198.18.0.0/15, a block that is never routed.
 * @see RFC 2544 appendix C.2.2
 */
export async function chooseWan(network: Network, id: string): Promise<WanState> {
  const used = await usedNetworks(network);
  const first = id === DEFAULT_LAB_ID ? 0 : 1 + (createHash("sha256").update(id).digest().readUInt16BE(0) % 32_000);
  for (let offset = 0; offset < 512; offset += 1) {
    const base = parseIpv4("198.18.0.0") + ((first + offset) % 32_768) * 4;
    if (used.some(([start, end]) => start <= base + 3 && base <= end)) continue;
    return { peer: namesOf(id).wanPeer, collectorAddress: formatIpv4(base + 1), probeAddress: formatIpv4(base + 2), prefixLength: 30 };
  }
  throw new LabError("busy", "no free addresses in 198.18.0.0/15 for the cable to the probe's box");
}

/** First and last address of each network that the machine has a route to, the default route aside. */
async function usedNetworks(network: Network): Promise<readonly (readonly [number, number])[]> {
  const text = await network.ip(null, ["-4", "route", "show", "table", "all"]);
  return text.split("\n").flatMap((line) => {
    const match = /^(?:\w+ )?(\d+\.\d+\.\d+\.\d+)(?:\/(\d+))?/.exec(line);
    if (!match) return [];
    const size = 2 ** (32 - Number(match[2] ?? 32));
    const start = Math.floor(parseIpv4(match[1] ?? "") / size) * size;
    return [[start, start + size - 1] as const];
  });
}

/** An IPv4 address as a number, for comparing. */
export function parseIpv4(text: string): number {
  return text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function formatIpv4(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}
