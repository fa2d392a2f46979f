import { createBoundedMap } from "../../bounded-map.ts";
import { addressKey } from "./binding-table.ts";

/**
 * What a claim of an address that nobody was known to have shows. `denied`: a host is kept from it. `lie`: by one who denied another address
 * too, or one that nobody has. `forged`: by one who does so under another MAC each time.
 */
export type Denial = "none" | "denied" | "lie" | "forged";

/** Notices who answers for every address that a host is about to take, and for addresses that nobody has. */
export interface DadDenial {
  /** A host asks whether an address is free. @see RFC 4862 section 5.4.2, RFC 5227 section 2.1.1 */
  onProbe(address: Uint8Array, prober: number, now: number): void;
  /** Somebody claims an address that nobody was known to have. @param source Who the frame comes from. */
  onNewClaim(address: Uint8Array, source: number, now: number): Denial;
  /** An address that nobody has was asked for, because of what this MAC had claimed. */
  onDecoy(address: Uint8Array, source: number, now: number): void;
  /** Whether this MAC was asked for such an address a moment ago. @param length Of the address, in bytes. */
  isDecoyed(source: number, length: number, now: number): boolean;
  /** Whether this MAC lied lately. */
  isLiar(source: number, now: number): boolean;
}

interface Denied {
  readonly key: string;
  readonly source: number;
  readonly at: number;
}

const MAX_ENTRIES = 256;
/** Hosts wait for a second, those of RFC 5227 for up to seven; the answer comes at once. */
const PROBE_MS = 2000;
const DECOY_MS = 2000;
/** One question shows it of all addresses that a MAC claims. */
const DECOY_AGAIN_MS = 800;
/** Two addresses within this that one MAC denies are no coincidence. */
const DENIAL_MS = 60_000;
/**
 * Nor are three addresses within this that as many MACs deny: a client that finds its address taken asks for another one ten seconds later.
 * @see RFC 2131 section 3.1 step 5
 */
const FORGED_MS = 10_000;
const FORGED_DENIALS = 3;
const LIAR_MS = 60_000;
const IPV4_BYTES = 4;
const PREFIX_BYTES = 8;

/** Bounded: the oldest entries give way. */
export function createDadDenial(): DadDenial {
  const probes = createBoundedMap<string, { readonly prober: number; readonly at: number }>(MAX_ENTRIES);
  const decoys = createBoundedMap<string, { readonly source: number; readonly at: number }>(MAX_ENTRIES);
  /** By MAC and family, as denials are. */
  const decoyed = createBoundedMap<string, number>(MAX_ENTRIES);
  /** By MAC and family. */
  const denials = createBoundedMap<string, Denied>(MAX_ENTRIES);
  const liars = createBoundedMap<number, number>(MAX_ENTRIES);
  let recent: readonly Denied[] = [];

  function lie(source: number, now: number): Denial {
    liars.put(source, now);
    return "lie";
  }
  /** Who asked the MAC of a claim for an address that nobody has hears another one answer: it wears many. */
  function judgeDecoy(length: number, asked: number, source: number, now: number): Denial {
    if (asked === source) return lie(source, now);
    return length === IPV4_BYTES ? "none" : "forged";
  }
  function judgeDenial(denied: Denied): Denial {
    const { key, source, at } = denied;
    const id = `${source} ${key.length}`;
    const before = denials.get(id);
    denials.put(id, denied);
    if (before && at - before.at <= DENIAL_MS && !isSameHost(before.key, key)) return lie(source, at);
    const others = recent.filter((other) => other.source !== source && at - other.at <= FORGED_MS && !isSameHost(other.key, key));
    recent = [...others.slice(-FORGED_DENIALS), denied];
    return others.filter((other) => other.key.length === key.length).length >= FORGED_DENIALS - 1 ? "forged" : "denied";
  }

  return {
    onProbe: (address, prober, now) => probes.put(addressKey(address), { prober, at: now }),
    onDecoy(address, source, now) {
      decoys.put(addressKey(address), { source, at: now });
      decoyed.put(`${source} ${address.length}`, now);
    },
    isDecoyed: (source, length, now) => now - (decoyed.get(`${source} ${length}`) ?? Number.NEGATIVE_INFINITY) < DECOY_AGAIN_MS,
    isLiar: (source, now) => now - (liars.get(source) ?? Number.NEGATIVE_INFINITY) < LIAR_MS,
    onNewClaim(address, source, now) {
      if (probes.size === 0 && decoys.size === 0) return "none";
      const key = addressKey(address);
      const decoy = decoys.get(key);
      if (decoy && now - decoy.at <= DECOY_MS) return judgeDecoy(address.length, decoy.source, source, now);
      const probe = probes.get(key);
      if (!probe || now - probe.at > PROBE_MS || probe.prober === source) return "none";
      return judgeDenial({ key, source, at: now });
    },
  };
}

/** One address, or addresses that end alike in several prefixes, as one host has them. */
function isSameHost(key: string, other: string): boolean {
  return key.length === other.length && (key === other || (key.length > IPV4_BYTES && key.slice(PREFIX_BYTES) === other.slice(PREFIX_BYTES)));
}
