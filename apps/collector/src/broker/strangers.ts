import type { Socket } from "node:net";

/** Connections that have not shown a certificate yet, counted by address: without a limit, one stranger could hold every place. */
export interface Strangers {
  /** @returns False for one too many from its address. */
  arrive(socket: Socket): boolean;
  /** The connection at the same address and port has shown a good certificate. */
  known(socket: Socket): void;
}

export function createStrangers(options: { readonly perAddress: number }): Strangers {
  const ports = new Map<string, Set<number>>();
  const leave = (address: string, port: number) => {
    const waiting = ports.get(address);
    waiting?.delete(port);
    if (waiting?.size === 0) ports.delete(address);
  };
  return {
    arrive(socket) {
      const { remoteAddress: address, remotePort: port } = socket;
      // Already gone again.
      if (address === undefined || port === undefined) return false;
      const waiting = ports.get(address) ?? new Set();
      if (waiting.size >= options.perAddress) return false;
      ports.set(address, waiting.add(port));
      socket.once("close", () => leave(address, port));
      return true;
    },
    known(socket) {
      if (socket.remoteAddress !== undefined && socket.remotePort !== undefined) leave(socket.remoteAddress, socket.remotePort);
    },
  };
}
