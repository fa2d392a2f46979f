import type { Host } from "./host.ts";

/** What a part of the probe wants to know of the hosts on the own link; each part names the events that it takes. */
export interface HostListener {
  /** Somebody speaks from an IPv4 address. For each frame: it must be cheap, and keep nothing of the bytes. */
  onSpoken?(address: Uint8Array): void;
  /** A host has an address that it was not seen at before. */
  onNewAddress?(host: Host): void;
  /** A host that the collector knows shows itself for the first time since the start. */
  onReturned?(): void;
  /** A MAC that was never seen is there, and shows no address. */
  onPending?(mac: number): void;
  /** A host is about to use an address. */
  onExpected?(mac: number, address: string): void;
  /** A router asked for multicast groups. */
  onListenerQuery?(): void;
  /** A host is left out. @param reason In words. */
  onRefused?(reason: string): void;
  /** DNS calls an address so. */
  onName?(address: string, name: string): void;
}

/** Hands each event to all who take it, in the order in which they began to listen. Who raises it knows none of them. */
export interface HostEvents extends Required<HostListener> {
  listen(listeners: readonly HostListener[]): void;
}

/** @returns Events that nobody listens to yet. */
export function createHostEvents(): HostEvents {
  const listeners: HostListener[] = [];
  let spoken: readonly HostListener[] = [];
  return {
    listen(more) {
      listeners.push(...more);
      spoken = listeners.filter(({ onSpoken }) => onSpoken !== undefined);
    },
    onSpoken(address) {
      for (const one of spoken) one.onSpoken?.(address);
    },
    onNewAddress(host) {
      for (const one of listeners) one.onNewAddress?.(host);
    },
    onReturned() {
      for (const one of listeners) one.onReturned?.();
    },
    onPending(mac) {
      for (const one of listeners) one.onPending?.(mac);
    },
    onExpected(mac, address) {
      for (const one of listeners) one.onExpected?.(mac, address);
    },
    onListenerQuery() {
      for (const one of listeners) one.onListenerQuery?.();
    },
    onRefused(reason) {
      for (const one of listeners) one.onRefused?.(reason);
    },
    onName(address, name) {
      for (const one of listeners) one.onName?.(address, name);
    },
  };
}
