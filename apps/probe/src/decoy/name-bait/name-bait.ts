/** Asks now and then for names that no host has: who answers gives itself out as hosts that it is not, to get what others send them. */
import { formatIp, formatPrefix, ipv4Bytes, ipv4Number, isLinkLocalIp, parseIp, parsePrefix, withoutZone } from "@lanthorn/packets";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import type { NetworkInterfaceInfo } from "node:os";
import type { Exemptions } from "../ladder/exemptions.ts";
import type { Ladder } from "../ladder/ladder.ts";
import type { NameBaitSettings } from "../settings.ts";
import { askName, type BaitNetwork } from "./ask-name.ts";
import { createBaitNames } from "./bait-names.ts";
import { NAME_PROTOCOLS, type NameBaitProtocol } from "./name-protocols.ts";

/** A decoy that asks. */
export interface BaitingDecoy extends BaitNetwork {
  readonly decoy: string;
}

/** The first question comes so soon. */
const MAX_FIRST_MS = 10_000;

/**
 * Begins at once where it is switched on. Nothing but the question is sent, whatever is answered.
 * @param deps.decoys Those that ask, one of each network. @param deps.taken Names that somebody has, in lower case.
 * @returns What ends it.
 */
export function openNameBait(settings: NameBaitSettings, deps: {
  readonly decoys: () => readonly BaitingDecoy[]; readonly taken: readonly string[]; readonly exemptions: Pick<Exemptions, "takeScan">; readonly ladder: Pick<Ladder, "climb">;
  readonly random: () => number; readonly clock: Clock; readonly log: Pick<Log, "warn">;
}): () => void {
  if (!settings.enabled) return () => undefined;
  const { clock, random, log } = deps;
  const nextName = createBaitNames(random, deps.taken);
  let end: () => void = () => undefined;
  const stop = new Promise<void>((resolve) => (end = resolve));
  const ask = async (protocol: NameBaitProtocol, network: BaitingDecoy, label: string) => {
    const question = { id: 1 + Math.floor(random() * 0xfffe), label };
    try {
      await askName(protocol, question, { network, clock, stop, onAnswer: (answer) => report(deps, { protocol, network, label, answer }) });
    } catch (error) {
      log.warn({ decoy: network.decoy, protocol, reason: describeError(error) }, "a name could not be asked for");
    }
  };
  const round = () => {
    const networks = deps.decoys();
    for (const protocol of settings.protocols) {
      // As a host that looks for a name: the same one over both versions of IP.
      const labels = new Map([...new Set(networks.map(({ decoy }) => decoy))].map((decoy) => [decoy, nextName()]));
      for (const network of networks) void ask(protocol, network, labels.get(network.decoy) ?? nextName());
    }
    wait(settings.interval_seconds * 1000 * (0.5 + random()));
  };
  let cancel: () => void = () => undefined;
  const wait = (ms: number) => (cancel = clock.after(ms, round));
  wait(random() * Math.min(MAX_FIRST_MS, settings.interval_seconds * 1000));
  return () => {
    cancel();
    end();
  };
}

function report({ exemptions, ladder, clock }: Parameters<typeof openNameBait>[1], { protocol, network, label, answer: { source, sourcePort, given } }: {
  readonly protocol: NameBaitProtocol; readonly network: BaitingDecoy; readonly label: string; readonly answer: { readonly source: string; readonly sourcePort: number; readonly given: string };
}): void {
  const { title, port } = NAME_PROTOCOLS[protocol];
  if (exemptions.takeScan(source, [port], new Date(clock.now())).length === 0) return;
  ladder.climb({
    isTest: false, isProven: false, decoy: network.decoy, service: protocol, source, sourcePort, destination: network.address, destinationPort: port, rung: "name_poisoning", username: "",
    detail: `${title}: gave ${given} for ${label}, which no host has`,
  }, clock.now(), clock.monotonic());
}

type OwnInterfaces = NodeJS.Dict<readonly NetworkInterfaceInfo[]>;

/** @param decoys By name and address. @returns The first decoy of each network of IPv4 that an interface has now, and the first of each interface that has IPv6: that one asks from its link-local address, as hosts do. */
export function baitingDecoys(decoys: readonly { readonly name: string; readonly address: string }[], interfaces: OwnInterfaces): readonly BaitingDecoy[] {
  const found = new Map<string, BaitingDecoy>();
  for (const { name, address } of decoys) {
    const bytes = parseIp(withoutZone(address));
    const text = bytes ? formatIp(bytes) : address;
    for (const [zone, own = []] of Object.entries(interfaces)) {
      const ip = own.find((one) => one.address === text);
      if (!ip) continue;
      const asking = [networkOf(ip), linkOf(zone, own, ip)].filter((one) => one !== null);
      for (const [key, network] of asking) if (!found.has(key)) found.set(key, { decoy: name, ...network });
    }
  }
  return [...found.values()];
}

/** @returns The network of an address of IPv4, as text, and how it is asked there. */
function networkOf({ family, address, cidr }: NetworkInterfaceInfo): readonly [string, BaitNetwork] | null {
  const network = family === "IPv4" ? parsePrefix(cidr ?? "") : null;
  if (!network) return null;
  const last = ipv4Number(network.bytes) + 2 ** (32 - network.length) - 1;
  return [formatPrefix(network), { address, broadcast: network.length > 30 ? null : formatIp(ipv4Bytes(last)), zone: null }];
}

/** @param ip The decoy's own address there. @returns Null for an interface without IPv6. */
function linkOf(zone: string, own: readonly NetworkInterfaceInfo[], ip: NetworkInterfaceInfo): readonly [string, BaitNetwork] | null {
  const asking = own.find(({ family, address }) => family === "IPv6" && isLinkLocalIp(parseIp(address) ?? new Uint8Array())) ?? ip;
  return asking.family === "IPv6" ? [zone, { address: asking.address, broadcast: null, zone }] : null;
}
