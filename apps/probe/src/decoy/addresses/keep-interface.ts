/** All decoys' own addresses on one interface, for as long as it is there. */
import { addOwnAddress, answerForOwnAddressesOnly, type InterfaceFacts, makeOwnLink, readAddressState, readInterface, readNeighborTable, removeOwnAddress, removeOwnLink } from "@lanthorn/packet-io";
import { type ArpPacket, equalBytes, ipv4Number, parseIp, parseMac } from "@lanthorn/packets";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { ProbeError } from "../../errors.ts";
import type { AddressCondition } from "./address-state.ts";
import { claimIpv6Address } from "./claim-ipv6.ts";
import { type KeptAddress, keepIpv4 } from "./keep-ipv4.ts";
import { openLinkWire } from "./link-wire.ts";
import type { NeighborClaim } from "./neighbor-claims.ts";
import { gatewayOf, isOnLink, type OwnDecoy } from "./own-decoys.ts";

/** How often an interface that is away is looked for. */
const RETRY_MS = 5000;
/** A switch that shuts its port because of a second MAC address does it within this, and would do it again. */
const [SHUT_WITHIN_MS, RETRY_SHUT_MS] = [15_000, 600_000];
/** Gateways among them: enough that one is awake. */
const MAX_NEIGHBORS = 4;

/** What is found out of a decoy's address. `isMacRefused` is null while unknown. */
export type AddressChange = Partial<AddressCondition & { readonly isMacRefused: boolean | null }>;

interface Deps {
  readonly onChange: (decoy: OwnDecoy, change: AddressChange) => void;
  readonly random: () => number;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
}

interface RoundDeps extends Deps {
  readonly facts: InterfaceFacts;
  readonly ending: AbortSignal;
}

/** Begins at once, and tries again whenever the interface is back. @returns What gives all addresses back, and takes the links away. */
export function keepOnInterface(parent: string, decoys: readonly OwnDecoy[], deps: Deps): () => Promise<void> {
  const { clock, log } = deps;
  const ending = new AbortController();
  const running = (async () => {
    while (!ending.signal.aborted) {
      const sinceMs = clock.monotonic();
      let wasUp = false;
      const reason = await (async () => {
        const facts = await readInterface(parent);
        if (!facts.up || facts.linkType !== "ether") throw new ProbeError("failed", `${parent} is down, or no Ethernet interface`);
        wasUp = true;
        return keepRound(decoys, { ...deps, facts, ending: ending.signal });
      })().catch(describeError);
      if (reason === null || ending.signal.aborted) return;
      const isShut = wasUp && clock.monotonic() - sinceMs < SHUT_WITHIN_MS && !(await readInterface(parent).then(({ up }) => up, () => false));
      const problem = isShut ? `${parent} went down right after frames of another MAC address: its switch may allow none (port security); tried again in ten minutes` : reason;
      log.warn({ interface: parent, reason: problem }, "the decoys' own addresses there are not taken");
      for (const decoy of decoys) deps.onChange(decoy, { state: "failed", used_by: null, problem, isMacRefused: isShut ? true : null });
      await pauseUntil(clock, isShut ? RETRY_SHUT_MS : RETRY_MS, ending.signal);
    }
  })();
  return async () => {
    ending.abort();
    await running;
  };
}

/** @returns Null where it was ended, or why the interface was lost. */
async function keepRound(decoys: readonly OwnDecoy[], deps: RoundDeps): Promise<string | null> {
  const { facts: { name: parent }, clock, log, ending } = deps;
  const undo: (() => unknown)[] = [];
  try {
    undo.push(answerForOwnAddressesOnly(parent));
    for (const { link: name, mac, ip } of decoys) {
      await makeOwnLink({ name, parent, mac }, { family: ip.includes(":") ? "ipv6" : "ipv4" });
      undo.push(() => removeOwnLink(name));
    }
    return await new Promise<string | null>((resolve) => {
      const concerned = new Set(concernedAddresses(decoys, deps.facts));
      const [onArp, onClaim]: [Set<KeptAddress<ArpPacket>>, Set<KeptAddress<NeighborClaim>>] = [new Set(), new Set()];
      const wire = openLinkWire(parent, {
        isConcerned: (address) => concerned.has(address), clock, onLost: (lost) => resolve(describeError(lost)),
        onArp: (arp) => onArp.forEach((one) => one.hear(arp)), onClaim: (claim) => onClaim.forEach((one) => one.hear(claim)),
      });
      undo.push(wire.close);
      for (const decoy of decoys) {
        const kept = decoy.ip.includes(":") ? addTo(onClaim, openIpv6(decoy, deps)) : addTo(onArp, openIpv4(decoy, decoys, { ...deps, send: wire.send }));
        undo.push(kept.close);
      }
      ending.addEventListener("abort", () => resolve(null), { once: true });
      if (ending.aborted) resolve(null);
    });
  } finally {
    for (const one of undo.toReversed()) {
      try {
        await one();
      } catch (error) {
        log.warn({ interface: parent, reason: describeError(error) }, "not all of the decoys' own addresses could be given back");
      }
    }
  }
}

function addTo<One>(set: Set<One>, one: One): One {
  set.add(one);
  return one;
}

function openIpv4(decoy: OwnDecoy, decoys: readonly OwnDecoy[], deps: RoundDeps & { readonly send: (frame: Uint8Array) => void }): KeptAddress<ArpPacket> {
  const { facts, onChange, send, random, clock, log } = deps;
  const own = facts.addresses.find(({ family, ip }) => family === "ipv4" && isOnLink(decoy, ip)) ?? facts.addresses.find(({ family }) => family === "ipv4");
  const ip = own === undefined ? null : parseIp(own.ip);
  const ours = [facts.mac, ...decoys.map(({ mac }) => mac)].flatMap((mac) => parseMac(mac) ?? []);
  return keepIpv4(decoy, {
    host: { mac: parseMac(facts.mac) ?? new Uint8Array(6), ...(ip && { ip }) }, isOurs: (mac) => ours.some((one) => equalBytes(one, mac)), send, ...onLinkOf(decoy, facts), random, clock, log,
    onChange: (condition) => onChange(decoy, { ...condition, ...(condition.state !== "taken" && { isMacRefused: null }) }), onMac: (isMacRefused) => onChange(decoy, { isMacRefused }),
    async neighbors() {
      const known = (await readNeighborTable()).filter((one) => one.interface === facts.name && one.mac !== null).map((one) => one.ip);
      const others = [...new Set([...facts.gateways, ...known])].filter((address) => !address.includes(":") && isOnLink(decoy, address) && !decoys.some((one) => one.ip === address));
      return others.slice(0, MAX_NEIGHBORS).flatMap((address) => parseIp(address) ?? []);
    },
  });
}

function openIpv6(decoy: OwnDecoy, { facts, onChange, random, clock }: RoundDeps): KeptAddress<NeighborClaim> {
  const [ip, mac] = [parseIp(decoy.ip), parseMac(decoy.mac)];
  if (!ip || !mac) throw new ProbeError("config-invalid", `${decoy.mac} or ${decoy.ip} is no address`);
  const claim = claimIpv6Address({ ip, mac, ...onLinkOf(decoy, facts), read: () => readAddressState(decoy.link, decoy.ip), onChange: (condition) => onChange(decoy, condition), random, clock });
  return { hear: claim.onClaim, close: claim.close };
}

function onLinkOf(decoy: OwnDecoy, { gateways }: InterfaceFacts): { readonly take: () => Promise<void>; readonly release: () => Promise<void> } {
  const address = { link: decoy.link, ip: decoy.ip, prefixLength: decoy.prefixLength, table: decoy.table, gateway: gatewayOf(decoy, gateways) };
  return { take: () => addOwnAddress(address), release: () => removeOwnAddress(address) };
}

/** Those of ARP that say something of a decoy's address, or answer a request of the interface's own. */
function concernedAddresses(decoys: readonly OwnDecoy[], { addresses }: InterfaceFacts): readonly number[] {
  const own = addresses.filter(({ family }) => family === "ipv4").map(({ ip }) => ip);
  return ["0.0.0.0", ...own, ...decoys.map(({ ip }) => ip)].flatMap((text) => {
    const bytes = parseIp(text);
    return bytes?.length === 4 ? [ipv4Number(bytes)] : [];
  });
}

function pauseUntil(clock: Pick<Clock, "after">, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve);
    signal.addEventListener("abort", () => {
      cancel();
      resolve();
    }, { once: true });
  });
}
