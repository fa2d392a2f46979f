import type { Binding, Host } from "../hosts/host.ts";
import { CHECK_AFTER_MS, type Watch } from "../hosts/presence.ts";

/** A packet to be sent to a host, for an answer. */
export interface Poll {
  /** Whether the host is there at all, or whether it still has this address. */
  readonly about: "host" | "address";
  readonly host: Host;
  readonly binding: Binding;
  /** To its own MAC alone, or to everyone: an access point keeps unicast frames for a sleeper, and broadcast reaches a moved one. */
  readonly isDirected: boolean;
}

/** Hosts fall silent together, after each sweep: their checks are spread over this time. */
const SPREAD_MS = 10_000;
/** An address of a host that is alive at another one. */
const ADDRESS_CHECK_AFTER_MS = 300_000;
/** While one address is in doubt, the others are polled too: only a host that is awake can show that it has left an address. */
const WITNESS_CHECK_AFTER_MS = 10_000;
/** Addresses of a silent host that are polled in turn. */
const ADDRESSES_POLLED = 4;
/** Of the many hosts that are due for none. */
const NO_POLLS: readonly Poll[] = [];

/** Polls that a host is due for: one where it is silent; else one of each address that was not heard of for long, or is in doubt. */
export function duePolls(host: Host, now: number): readonly Poll[] {
  const { watch, bindings } = host;
  if (now - watch.silentFrom >= CHECK_AFTER_MS + (host.key % SPREAD_MS)) return pollOfSilent(host);
  if (bindings.length < 2) return NO_POLLS;
  const addressAfterMs = bindings.some((binding) => isInDoubt(binding)) ? WITNESS_CHECK_AFTER_MS : ADDRESS_CHECK_AFTER_MS;
  return bindings
    .filter((binding) => binding.watch.askedAt === null && (isInDoubt(binding) || now - binding.watch.silentFrom >= addressAfterMs))
    .map((binding) => ({ about: "address", host, binding, isDirected: isDirected(binding.watch) }));
}

/** Whether a poll that waited is still needed: its host or address may have been heard meanwhile. */
export function isStillNeeded(poll: Poll, now: number): boolean {
  const after = poll.about === "host" ? CHECK_AFTER_MS : WITNESS_CHECK_AFTER_MS;
  return now - watchOf(poll).silentFrom >= after || isInDoubt(poll.binding);
}

/** What an answer to the poll, or its silence, is counted for. */
export function watchOf({ about, host, binding }: Poll): Watch {
  return about === "host" ? host.watch : binding.watch;
}

/** None while an answer is waited for, or where the host is known to be offline. */
function pollOfSilent(host: Host): readonly Poll[] {
  const { watch, bindings } = host;
  if (watch.askedAt !== null || (host.presence === "offline" && host.confirmedOffline)) return NO_POLLS;
  const inTurn =
    bindings.length < 2 ? bindings : bindings.toSorted((a, b) => doubt(a) - doubt(b) || b.watch.silentFrom - a.watch.silentFrom);
  const binding = inTurn[Math.floor(watch.misses / 2) % Math.min(inTurn.length, ADDRESSES_POLLED)];
  return binding ? [{ about: "host", host, binding, isDirected: isDirected(watch) }] : NO_POLLS;
}

function isDirected({ misses }: Watch): boolean {
  return misses % 2 === 0;
}

function isInDoubt({ doubted, watch }: Binding): boolean {
  return doubted || watch.misses > 0;
}

/** Low for the address that is most likely to be answered; IPv4 first, as it is asked by everyone. */
function doubt({ doubted, watch, bytes }: Binding): number {
  return watch.misses + (doubted ? 1 : 0) + (bytes.length === 4 ? 0 : 2);
}
