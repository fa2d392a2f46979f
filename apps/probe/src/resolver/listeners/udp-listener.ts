/** Questions by UDP. Each address has a socket of its own, so that an answer leaves from the address that was asked. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import type { ListenAt, Listener, TakeMessage } from "./listener.ts";

/** What waits in the kernel while lists are exchanged or the process starts again: some thousand questions. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/** @throws Error as node:dgram does, with `code` EADDRINUSE where another program has the port. */
export async function listenUdp(at: ListenAt, take: TakeMessage): Promise<Listener> {
  const isSix = "address" in at && isIPv6(at.address);
  // Addresses are given: asking for them, as Node does for each datagram, costs a turn of the event loop.
  const socket = createSocket({
    type: isSix ? "udp6" : "udp4", ipv6Only: isSix, reuseAddr: false, lookup: (host, _, found) => found(null, host, isSix ? 6 : 4),
  });
  const ignore = () => undefined;
  socket.on("message", (message, { address, port }) => {
    take(message, { address, isDatagram: true, isEncrypted: false, respond: (response) => socket.send(response, 0, response.length, port, address, ignore) });
  });
  // With such a look-up the socket is bound before `bind` returns.
  const listening = once(socket, "listening");
  socket.bind("fd" in at ? { fd: at.fd } : { address: at.address, port: at.port });
  await listening;
  socket.on("error", ignore);
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES);
  } catch {
    // The kernel's own size does.
  }
  const { address, port } = socket.address();
  return {
    label: `udp ${address}:${port}`, port,
    close: () => new Promise((resolve) => void socket.close(resolve)),
  };
}
