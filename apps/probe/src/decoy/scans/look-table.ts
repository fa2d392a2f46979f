import { MAX_LOOK_PORTS, type ScanKind, type ScanLook } from "./scan-look.ts";

/** Looks that wait to be said: one for each source, decoy and kind. */
export interface LookTable {
  add(look: { readonly kind: ScanKind; readonly source: string; readonly address: string; readonly sourcePort: number; readonly port: number }, atMs: number): void;
  /** Takes the oldest out. */
  take(limit: number): readonly ScanLook[];
  readonly size: number;
  /** Packets that there was no room for. */
  readonly leftOut: number;
}

/** A spoofed flood has as many sources as it wants. */
const MAX_WAITING = 1024;
const MAX_COUNTED_PORTS = 4096;

interface Waiting {
  readonly look: Omit<ScanLook, "ports" | "port_count">;
  readonly ports: Set<number>;
}

/** @returns One that has nothing. */
export function createLookTable(): LookTable {
  const waiting = new Map<string, Waiting>();
  let leftOut = 0;
  return {
    get size() {
      return waiting.size;
    },
    get leftOut() {
      return leftOut;
    },
    add({ kind, source, address, sourcePort, port }, atMs) {
      const key = `${source} ${address} ${kind}`;
      let one = waiting.get(key);
      if (!one) {
        if (waiting.size >= MAX_WAITING) {
          leftOut += 1;
          return;
        }
        one = { look: { kind, source, address, source_port: sourcePort, at: atMs }, ports: new Set() };
        waiting.set(key, one);
      }
      if (one.ports.size < MAX_COUNTED_PORTS) one.ports.add(port);
    },
    take(limit) {
      const taken = [...waiting].slice(0, limit);
      for (const [key] of taken) waiting.delete(key);
      return taken.map(([, { look, ports }]) => ({ ...look, ports: [...ports].slice(0, MAX_LOOK_PORTS), port_count: ports.size }));
    },
  };
}
