import { createBoundedMap } from "../../bounded-map.ts";

/** Different ports at which a source was. */
export interface PortCount {
  /** @returns Those to be reported: none until there are enough, then all, then each new one. */
  add(ends: { readonly source: string; readonly address: string }, port: number, atMs: number): readonly number[];
  /** Ports that are remembered. */
  readonly size: number;
}

const MAX_SOURCES = 1024;
/** Of one source, and of all: beyond it the source that began first is forgotten, and begins anew. */
const [MAX_PORTS_OF_SOURCE, MAX_PORTS] = [4096, 32_768];

/** @param min Ports that are enough, within so many milliseconds. */
export function createPortCount(min: number, withinMs: number): PortCount {
  const sources = createBoundedMap<string, { readonly ports: Set<number>; readonly atMs: number }>(MAX_SOURCES);
  let size = 0;
  const begin = (key: string, atMs: number) => {
    size -= sources.get(key)?.ports.size ?? 0;
    sources.delete(key);
    if (sources.size >= MAX_SOURCES) size -= sources.takeOldest()?.[1].ports.size ?? 0;
    const fresh = { ports: new Set<number>(), atMs };
    sources.put(key, fresh);
    return fresh;
  };
  return {
    get size() {
      return size;
    },
    add({ source, address }, port, atMs) {
      const key = `${source} ${address}`;
      const known = sources.get(key);
      const { ports } = known && atMs - known.atMs <= withinMs ? known : begin(key, atMs);
      if (ports.has(port) || ports.size >= MAX_PORTS_OF_SOURCE) return [];
      ports.add(port);
      size += 1;
      while (size > MAX_PORTS) size -= sources.takeOldest()?.[1].ports.size ?? 0;
      return ports.size < min ? [] : ports.size === min ? [...ports] : [port];
    },
  };
}
