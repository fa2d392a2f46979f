import type { Advert } from "../../listen/advert.ts";
import { readAdvert } from "../../listen/read-advert.ts";
import type { Guard, GuardDeps, GuardFrame } from "../guard.ts";
import { createKnownNeighbors, isSwitch, type KnownNeighbor, neighborOf } from "./known-neighbors.ts";
import { createNeighborSigns, type NewNeighbor } from "./neighbor-signs.ts";
import { createNewNeighbors } from "./new-neighbors.ts";

/** Two adverts of LLDP and CDP, which come each 30 and 60 s. */
const ALIVE_MS = 130_000;
/** A new switch waits so long for others of its kind: many are a flood. What is learned was heard twice, this far apart. */
const HOLD_MS = 1500;
const MAX_HELD = 64;
/** One that is information is normal after this. */
const SETTLE_MS = 600_000;
const MAKER_LETTERS = 8;

/** Who says by LLDP or CDP that it is the uplink, or a switch, and is not. @see README.md "Link neighbors" */
export function createLinkNeighborsGuard(deps: GuardDeps): Guard {
  const { clock, learning } = deps;
  const known = createKnownNeighbors(deps.learned, clock.monotonic());
  const fresh = createNewNeighbors();
  const signs = createNeighborSigns(deps.incidents);
  const held = new Map<string, NewNeighbor & { readonly dueAt: number }>();

  /** The known switch whose name, chassis or address a neighbor claims from a MAC that cannot be its. */
  function victimOf(neighbor: KnownNeighbor, since: number): KnownNeighbor | null {
    return known.all().find((other) => {
      const heardAt = known.heardAt(other);
      if (!claimsIdentityOf(neighbor, other) || other.mac === neighbor.mac || clock.monotonic() - heardAt > ALIVE_MS) return false;
      // Ports of one switch have MACs of one maker; and after a failover the same port has another one, while the old one is silent.
      return !isOneMaker(other.mac, neighbor.mac) || (other.port === neighbor.port && heardAt > since);
    }) ?? null;
  }

  /** Of two that claim one chassis in the learning period, the one whose MAC is like the chassis is right. */
  function isVictimForged(neighbor: KnownNeighbor, victim: KnownNeighbor): boolean {
    return learning.isOn() && victim.chassis === neighbor.chassis && isOneMaker(neighbor.chassis, neighbor.mac) && !isOneMaker(victim.chassis, victim.mac);
  }

  function hearNew(at: GuardFrame, advert: Advert): void {
    const now = clock.monotonic();
    const neighbor = neighborOf(advert);
    const { since, isFlood } = fresh.add(`${neighbor.mac} ${neighbor.chassis}`, now);
    const sign = { neighbor, protocol: advert.protocol.toUpperCase(), vlanId: at.frame.vlanTags[0]?.vlanId ?? null, packet: at.captured.bytes };
    if (isFlood) {
      held.clear();
      return signs.flood(sign);
    }
    const victim = victimOf(neighbor, since);
    if (victim && isVictimForged(neighbor, victim)) {
      known.forget(victim);
      known.learn(neighbor, now);
      return signs.spoofed({ ...sign, neighbor: victim }, neighbor);
    }
    if (victim) return signs.spoofed(sign, victim);
    const isRepeated = now - since >= HOLD_MS;
    if (!isSwitch(advert)) {
      if (isRepeated && (learning.isOn() || now - since >= SETTLE_MS)) known.learnEnds();
      return;
    }
    const isSender = known.all().some(({ mac }) => mac === neighbor.mac);
    if (isSender || learning.isOn()) {
      // The same switch by its other protocol, and what is there while the probe learns.
      if (isRepeated) known.learn(neighbor, now);
    } else if (signs.isOpen(neighbor.mac) || isRepeated) hearSwitch(sign, since);
    else if (!held.has(neighbor.mac) && held.size < MAX_HELD) held.set(neighbor.mac, { ...sign, packet: sign.packet.slice(), dueAt: now + HOLD_MS });
  }

  /** At a port that showed its own switch and nobody else, no second switch can be. */
  function hearSwitch(sign: NewNeighbor, since: number): void {
    const now = clock.monotonic();
    const switches = known.all();
    const [first = null] = switches;
    const isOnly = first !== null && !known.hasEnds() && switches.every(({ mac }) => mac === first.mac) && now - known.heardAt(first) < ALIVE_MS;
    if (!isOnly && now - since >= SETTLE_MS) return known.learn(sign.neighbor, now);
    signs.another(sign, isOnly ? first : null);
  }

  return {
    name: "Link neighbors",
    onLink(at) {
      const advert = readAdvert(at.captured);
      if (!advert || advert.isVlansOnly || advert.ttlSeconds === 0 || advert.facts.chassis_id === "" || advert.sourceMac === deps.link()?.mac) return;
      const neighbor = known.find(advert.sourceMac, advert.facts.chassis_id);
      if (neighbor) known.touch(neighbor, clock.monotonic());
      else hearNew(at, advert);
    },
    tick(now) {
      for (const [mac, sign] of held) {
        if (now < sign.dueAt) continue;
        held.delete(mac);
        hearSwitch(sign, now);
      }
    },
  };
}

/** Whether a neighbor calls itself by the chassis, the name or an address of another. */
function claimsIdentityOf(neighbor: KnownNeighbor, other: KnownNeighbor): boolean {
  return other.chassis === neighbor.chassis || (other.name !== "" && other.name === neighbor.name)
    || other.addresses.some((address) => neighbor.addresses.includes(address));
}

/** The first three bytes, of texts that are MACs. */
function isOneMaker(one: string, other: string): boolean {
  return one.slice(0, MAKER_LETTERS) === other.slice(0, MAKER_LETTERS);
}
