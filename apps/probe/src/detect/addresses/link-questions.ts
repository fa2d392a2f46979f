import { BROADCAST_MAC, multicastMac, parseIp, solicitedNodeAddress } from "@lanthorn/packets";
import { createLink } from "../../capture/link.ts";
import { encodeAddressRequest } from "../../egress/request-frames.ts";
import type { GuardDeps } from "../guard.ts";
import type { Binding } from "./binding.ts";
import { addressKey, bindingAddress } from "./binding-table.ts";

/** What this guard asks the link beside the checks of conflicts, at a bounded rate. */
export interface LinkQuestions {
  /** Asks everybody who has an address, so that all who answer for it are heard. */
  askEverybody(binding: Binding, now: number): void;
  /**
   * Asks one host for an address that nobody has, and for IPv6 all, as a host does that is about to take it. Who answers lies.
   * @returns The address, or null where none was asked for.
   */
  askDecoy(like: Uint8Array, mac: Uint8Array): Uint8Array | null;
  /** Asks everybody at once, as a check needs it. */
  askAll(binding: Binding, now: number): void;
  /** Asks one host. Nothing is sent for other VLANs than the interface's own. */
  ask(binding: Pick<Binding, "key" | "vlanId">, mac: Uint8Array): void;
  /** The gateways are asked for now and then, so that their bindings are known early and one who only answers is heard. */
  askGateways(gateways: Iterable<string>, find: (address: Uint8Array) => Binding | null, now: number): void;
  /** Keys of the interface's own addresses, and its MAC. */
  own(): { readonly mac: Uint8Array | null; readonly keys: ReadonlySet<string> };
}

/** One packet a second at most, beside the checks. */
const PAUSE_MS = 1000;
/** Each address so often at most. */
const PAUSE_OF_ONE_MS = 10_000;
const GATEWAY_PAUSE_MS = 30_000;
const MAX_GATEWAYS = 4;
const DECOY_PAUSE_MS = 500;
const NOBODY: ReadonlySet<string> = new Set();

/**
 * @param events.isKnown Whether somebody is known to have an address.
 * @param events.onAskedAll Everybody is asked for an address.
 */
export function createLinkQuestions(deps: Pick<GuardDeps, "probes" | "link" | "random" | "clock">, events: {
  readonly isKnown: (address: Uint8Array) => boolean;
  readonly onAskedAll: (binding: Binding, now: number) => void;
}): LinkQuestions {
  const { probes, clock } = deps;
  let everybodyAt = Number.NEGATIVE_INFINITY;
  let gatewaysAt = Number.NEGATIVE_INFINITY;
  let decoyAt = Number.NEGATIVE_INFINITY;
  let fingerprint = "";
  let own: { readonly mac: Uint8Array | null; readonly keys: ReadonlySet<string> } = { mac: null, keys: NOBODY };

  function send(address: Uint8Array): void {
    const link = createLink(deps.link());
    if (!link) return;
    const frame = address.length === 16 ? encodeAddressRequest(link, address, null) : null;
    if (frame) probes.send(frame);
    else if (address.length === 4) probes.ask(address, BROADCAST_MAC);
  }
  function askAll(binding: Binding, now: number): void {
    if (binding.vlanId !== 0) return;
    binding.askedAt = now;
    send(bindingAddress(binding));
    events.onAskedAll(binding, now);
  }
  /**
   * As a host asks all, in a frame to one: who is asked by a unicast packet leaves out the override flag, and so claims nothing.
   * @returns Whether it was asked: for IPv4, and without an address of our own, it is not.
   * @see RFC 4861 section 7.2.4, RFC 6085
   */
  function askAsNeighbor(address: Uint8Array, mac: Uint8Array): boolean {
    const link = address.length === 16 ? createLink(deps.link()) : null;
    const frame = link && encodeAddressRequest(link, address, null);
    frame?.set(mac);
    return frame ? probes.send(frame) : false;
  }
  return {
    askEverybody(binding, now) {
      if (binding.vlanId !== 0 || now - everybodyAt < PAUSE_MS || now - binding.askedAt < PAUSE_OF_ONE_MS || binding.conflict) return;
      everybodyAt = now;
      askAll(binding, now);
    },
    askAll,
    askDecoy(like, mac) {
      const now = clock.monotonic();
      if (now - decoyAt < DECOY_PAUSE_MS) return null;
      const decoy = like.slice();
      // Random in the last bytes: of an IPv4 network of 254 hosts one that is not known, of an IPv6 network one of 2^56.
      for (let at = like.length === 4 ? 3 : 9; at < like.length; at += 1) decoy[at] = 1 + Math.floor(deps.random() * 253);
      if (events.isKnown(decoy) || addressKey(decoy) === addressKey(like)) return null;
      decoyAt = now;
      probes.ask(decoy, mac);
      // Some who answer every solicitation leave out those of duplicate address detection.
      askAsNeighbor(decoy, mac);
      if (decoy.length === 16) probes.ask(decoy, multicastMac(solicitedNodeAddress(decoy)));
      return decoy;
    },
    ask(binding, mac) {
      if (binding.vlanId !== 0) return;
      const address = bindingAddress(binding);
      if (!askAsNeighbor(address, mac)) probes.ask(address, mac);
    },
    askGateways(gateways, find, now) {
      if (now - gatewaysAt < GATEWAY_PAUSE_MS) return;
      gatewaysAt = now;
      for (const key of [...gateways].slice(0, MAX_GATEWAYS)) {
        const address = bindingAddress({ key });
        const binding = find(address);
        if (binding?.conflict) continue;
        if (binding) askAll(binding, now);
        else send(address);
      }
    },
    own() {
      const facts = deps.link();
      const latest = facts ? `${facts.mac} ${facts.addresses.map(({ ip }) => ip).join(" ")}` : "";
      if (latest !== fingerprint) {
        fingerprint = latest;
        const keys = (facts?.addresses ?? []).flatMap(({ ip }) => parseIp(ip) ?? []).map(addressKey);
        own = { mac: createLink(facts)?.mac ?? null, keys: new Set(keys) };
      }
      return own;
    },
  };
}
