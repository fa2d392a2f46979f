import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** A port that a decoy serves. */
export interface DecoyListener {
  readonly port: number;
  close(): Promise<void>;
}

/** Those who connect within a busy moment wait in the kernel, which gives no more than net.core.somaxconn. */
const BACKLOG = 4096;
/** Who says nothing for so long has gone. */
const IDLE_MS = 300_000;

/** @param port 0: the kernel chooses. @param onConnection The socket has its address, and reports its own errors. @param onVanished Somebody connected and was gone before the kernel could say who. @throws Error as node:net does. */
export async function listenDecoy(address: string, port: number, { onConnection, onVanished }: {
  readonly onConnection: (socket: Socket, source: string) => void; readonly onVanished: () => void;
}): Promise<DecoyListener> {
  const server = createServer({ noDelay: true }, (socket) => {
    const source = socket.remoteAddress;
    socket.on("error", () => socket.destroy());
    if (source === undefined) {
      onVanished();
      socket.destroy();
      return;
    }
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    onConnection(socket, source);
  });
  server.listen({ host: address, port, backlog: BACKLOG });
  await once(server, "listening");
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound ? bound.port : port,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
