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
/** Of one look; beyond those that are named, of all together. */
const [MAX_COUNTED_PORTS, MAX_COUNTED] = [4096, 32_768];

interface Waiting {
  readonly look: Omit<ScanLook, "ports" | "port_count">;
  readonly ports: Set<number>;
}

/** @returns One that has nothing. */
export function createLookTable(): LookTable {
  const waiting = new Map<string, Waiting>();
  let [leftOut, counted] = [0, 0];
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
      const { ports } = one;
      if (ports.size < MAX_LOOK_PORTS) ports.add(port);
      else if (ports.size < MAX_COUNTED_PORTS && counted < MAX_COUNTED && !ports.has(port)) {
        ports.add(port);
        counted += 1;
      }
    },
    take(limit) {
      const taken = [...waiting].slice(0, limit);
      for (const [key, { ports }] of taken) {
        waiting.delete(key);
        counted -= Math.max(0, ports.size - MAX_LOOK_PORTS);
      }
      return taken.map(([, { look, ports }]) => ({ ...look, ports: [...ports].slice(0, MAX_LOOK_PORTS), port_count: ports.size }));
    },
  };
}
