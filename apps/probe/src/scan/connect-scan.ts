import { type AddressSet, isPrintPort } from "@lanthorn/packet-io";
import { parseIp } from "@lanthorn/packets";
import { connect } from "node:net";

/** Connections under way; more would push others out of the kernel's neighbour table, which ends at 1024. */
const AT_ONCE = 128;
const TIMEOUT_MS = 1500;

/**
 * Looks for open TCP ports by connecting to them, where no frames of one's own can be sent: slower, and every service sees it.
 * @param options.hosts Addresses of either family.
 * @param options.onPort Each open port, as it is found.
 * @throws The signal's reason.
 */
export async function scanByConnecting(options: {
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
  /** Never connected to; nor is any print port. */
  readonly excluded: () => AddressSet;
  readonly signal: AbortSignal;
  readonly onPort: (ip: string, port: number) => void;
}): Promise<void> {
  const { hosts, ports, signal } = options;
  let next = 0;
  const work = async () => {
    while (next < hosts.length * ports.length && !signal.aborted) {
      // Port by port, so that no host gets all its questions at once.
      const host = hosts[next % hosts.length] as string;
      const port = ports[Math.floor(next / hosts.length)] as number;
      next += 1;
      const address = parseIp(host);
      if (!address || isPrintPort(port) || options.excluded().holds(address, 0, address.length)) continue;
      if (await isOpen(host, port, signal)) options.onPort(host, port);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, hosts.length * ports.length) }, work));
  signal.throwIfAborted();
}

function isOpen(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (isOpen: boolean) => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      resolve(isOpen);
    };
    const onAbort = () => end(false);
    signal.addEventListener("abort", onAbort, { once: true });
    socket.setTimeout(TIMEOUT_MS, () => end(false));
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}
