import { addressKey } from "./binding-table.ts";

/** Notices who answers for every address that a host is about to take, and for addresses that nobody has. */
export interface DadDenial {
  /** A host asks whether an address is free. @see RFC 4862 section 5.4.2, RFC 5227 section 2.1.1 */
  onProbe(address: Uint8Array, prober: number, now: number): void;
  /**
   * Somebody claims an address that nobody was known to have.
   * @param source Who the frame comes from.
   * @returns `denied` when a host is being kept from it, `lie` when that was shown: another address was denied, or one that nobody has.
   */
  onNewClaim(address: Uint8Array, source: number, now: number): "none" | "denied" | "lie";
  /** An address that nobody has was asked for. */
  onDecoy(address: Uint8Array, source: number, now: number): void;
  /** Whether this MAC lied lately. */
  isLiar(source: number, now: number): boolean;
}

const MAX_ENTRIES = 256;
/** Hosts wait for a second, those of RFC 5227 for up to seven; the answer comes at once. */
const PROBE_MS = 2000;
const DECOY_MS = 2000;
/** Two addresses within this that one MAC denies are no coincidence. */
const DENIAL_MS = 60_000;
const LIAR_MS = 60_000;

/** Bounded: the oldest entries give way. */
export function createDadDenial(): DadDenial {
  const probes = new Map<string, { readonly prober: number; readonly at: number }>();
  const decoys = new Map<string, { readonly source: number; readonly at: number }>();
  const denials = new Map<number, { readonly key: string; readonly at: number }>();
  const liars = new Map<number, number>();

  return {
    onProbe: (address, prober, now) => put(probes, addressKey(address), { prober, at: now }),
    onDecoy: (address, source, now) => put(decoys, addressKey(address), { source, at: now }),
    isLiar: (source, now) => now - (liars.get(source) ?? Number.NEGATIVE_INFINITY) < LIAR_MS,
    onNewClaim(address, source, now) {
      if (probes.size === 0 && decoys.size === 0) return "none";
      const key = addressKey(address);
      const decoy = decoys.get(key);
      if (decoy && now - decoy.at <= DECOY_MS) {
        put(liars, source, now);
        return "lie";
      }
      const probe = probes.get(key);
      if (!probe || now - probe.at > PROBE_MS || probe.prober === source) return "none";
      const before = denials.get(source);
      put(denials, source, { key, at: now });
      if (!before || before.key === key || now - before.at > DENIAL_MS) return "denied";
      put(liars, source, now);
      return "lie";
    },
  };
}

function put<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key);
  if (map.size >= MAX_ENTRIES) for (const oldest of map.keys()) {
    map.delete(oldest);
    break;
  }
  map.set(key, value);
}
