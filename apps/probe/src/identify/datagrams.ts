import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import { systemClock } from "@lanthorn/runtime";

/** Sends a datagram and waits for an answer. @returns The first one from that address and port, or null in time without one. */
export type ExchangeDatagram = (
  target: { readonly ip: string; readonly port: number },
  payload: Uint8Array,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly fromAnyPort?: boolean },
) => Promise<Uint8Array | null>;

/** From a port that the kernel chooses, and only to one address: nobody else's datagrams are looked at. */
export const exchangeDatagram: ExchangeDatagram = (target, payload, options) => {
  if (options.signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(target.ip) ? "udp6" : "udp4");
    let isOver = false;
    const finish = (answer: Uint8Array | null) => {
      if (isOver) return;
      isOver = true;
      cancelTimeout();
      options.signal.removeEventListener("abort", abort);
      socket.close();
      resolve(answer);
    };
    const abort = () => finish(null);
    const cancelTimeout = systemClock.after(options.timeoutMs, abort);
    options.signal.addEventListener("abort", abort, { once: true });
    socket.on("error", abort);
    // A TFTP server answers from another port than it was asked at.
    if (options.fromAnyPort === true) {
      socket.on("message", (bytes, from) => {
        if (from.address === target.ip) finish(bytes);
      });
      socket.send(payload, target.port, target.ip, (error) => {
        if (error) abort();
      });
      return;
    }
    // Connected, so that the kernel says when nobody listens and drops others' datagrams.
    socket.on("message", (bytes) => finish(bytes));
    socket.connect(target.port, target.ip, () => {
      socket.send(payload, (error) => {
        if (error) abort();
      });
    });
  });
};
