import { SILENCE_BELIEVED_MS } from "../../hosts/presence.ts";

/** Since when nobody of a network answers: its line may be down, and then a miss says nothing of a host. Times are monotonic milliseconds. */
export interface NetworkSilence {
  /** A host of the network answered. */
  end(network: string): void;
  /** Nobody of the network answered a poll. Nothing where that began before. */
  begin(network: string, now: number): void;
  /** Whether nobody has answered for so long that nobody is there: misses count. */
  isBelieved(network: string, now: number): boolean;
  /** Whether nobody answers, though not for so long yet: the line is in doubt. */
  isInDoubt(network: string, now: number): boolean;
  /** Nothing could be heard until now. */
  clear(): void;
}

/** Every network answers until `begin`. */
export function createNetworkSilence(): NetworkSilence {
  const silentFrom = new Map<string, number>();
  const isBelieved = (network: string, now: number) => now - (silentFrom.get(network) ?? now) >= SILENCE_BELIEVED_MS;
  return {
    end: (network) => void silentFrom.delete(network),
    begin(network, now) {
      if (!silentFrom.has(network)) silentFrom.set(network, now);
    },
    isBelieved,
    isInDoubt: (network, now) => silentFrom.has(network) && !isBelieved(network, now),
    clear: () => silentFrom.clear(),
  };
}
