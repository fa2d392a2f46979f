/** The connections of all decoys: a flood of them ends the flood's own, and never the first of somebody else. */
import type { Socket } from "node:net";

/** Who is connected. */
export interface SessionTable {
  /** Where there is no room, the oldest connection of the source that has most of them ends. */
  add(socket: Socket, source: string): void;
  readonly size: number;
  /** Those that ended for want of room. */
  readonly evicted: number;
  /** @returns When all have ended. */
  close(): Promise<void>;
}

/** @param maxSessions Of all sources. */
export function createSessionTable(maxSessions: number): SessionTable {
  const bySource = new Map<string, Set<Socket>>();
  let [size, evicted] = [0, 0];
  const remove = (socket: Socket, source: string) => {
    const own = bySource.get(source);
    if (own?.delete(socket) !== true) return;
    size -= 1;
    if (own.size === 0) bySource.delete(source);
  };
  const makeRoom = () => {
    let most: [string, Set<Socket>] | null = null;
    for (const one of bySource) if (!most || one[1].size > most[1].size) most = one;
    const oldest = most?.[1].values().next().value;
    if (!most || !oldest) return;
    evicted += 1;
    remove(oldest, most[0]);
    oldest.destroy();
  };
  return {
    get size() {
      return size;
    },
    get evicted() {
      return evicted;
    },
    add(socket, source) {
      if (size >= maxSessions) makeRoom();
      const own = bySource.get(source) ?? new Set();
      bySource.set(source, own.add(socket));
      size += 1;
      socket.on("close", () => remove(socket, source));
    },
    async close() {
      const all = [...bySource.values()].flatMap((own) => [...own]);
      await Promise.all(all.map((socket) => new Promise<void>((resolve) => void socket.once("close", () => resolve()).destroy())));
    },
  };
}
