import { type AddressSet, isPrintPort } from "@lanthorn/packet-io";
import { parseIp } from "@lanthorn/packets";
import { connect } from "node:net";

/** Connections under way; more would push others out of the kernel's neighbor table, which ends at 1024. */
const AT_ONCE = 128;
const TIMEOUT_MS = 1500;

/** Any answer of these shows a host. */
const COMMON_PORTS = [443, 80, 22, 445] as const;

/** What connecting needs to know, whatever it is for. */
interface Connecting {
  /** Addresses of either family. */
  readonly hosts: readonly string[];
  /** The interface by which link-local addresses are reached. */
  readonly zone: string;
  /** Never connected to; nor is any print port. */
  readonly excluded: () => AddressSet;
  readonly signal: AbortSignal;
}

/**
 * Looks for open TCP ports by connecting to them, where no frames of one's own can be sent: slower, and every service sees it.
 * @param options.onPort Each open port, as it is found.
 * @throws The signal's reason.
 */
export async function scanByConnecting(options: Connecting & {
  readonly ports: readonly number[]; readonly onPort: (ip: string, port: number) => void;
}): Promise<void> {
  await connectAll(options, options.ports, (host, port, state) => {
    if (state === "open") options.onPort(host, port);
    return true;
  });
}

/**
 * Looks for hosts by connecting to some common ports: who takes or refuses a connection is there.
 * @param options.onHost Each host once, as it is found.
 * @throws The signal's reason.
 */
export async function findByConnecting(options: Connecting & { readonly onHost: (ip: string) => void }): Promise<void> {
  const found = new Set<string>();
  await connectAll(options, COMMON_PORTS, (host, _, state) => {
    if (state !== "silent" && !found.has(host)) {
      found.add(host);
      options.onHost(host);
    }
    return state === "silent";
  });
}

/** @param onState Told what came of each connection. @returns Whether the host's other ports are still of interest. */
async function connectAll(
  { hosts, zone, excluded, signal }: Connecting, ports: readonly number[],
  onState: (host: string, port: number, state: PortState) => boolean,
): Promise<void> {
  const done = new Set<string>();
  let next = 0;
  const work = async () => {
    while (next < hosts.length * ports.length && !signal.aborted) {
      // Port by port, so that no host gets all its questions at once.
      const host = hosts[next % hosts.length] as string;
      const port = ports[Math.floor(next / hosts.length)] as number;
      next += 1;
      const address = parseIp(host);
      if (!address || done.has(host) || isPrintPort(port) || excluded().holds(address, 0, address.length)) continue;
      if (!onState(host, port, await tryToConnect(withZone(host, zone), port, signal))) done.add(host);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, hosts.length * ports.length) }, work));
  signal.throwIfAborted();
}

/** The address as it is connected to: a link-local one is on each of several links another host's. @see RFC 4007 section 11 */
export function withZone(address: string, zone: string): string {
  return zone !== "" && /^fe[89ab]/i.test(address) ? `${address}%${zone}` : address;
}

type PortState = "open" | "closed" | "silent";

function tryToConnect(host: string, port: number, signal: AbortSignal): Promise<PortState> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (state: PortState) => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      resolve(state);
    };
    const onAbort = () => end("silent");
    signal.addEventListener("abort", onAbort, { once: true });
    socket.setTimeout(TIMEOUT_MS, () => end("silent"));
    socket.once("connect", () => end("open"));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code === "ECONNREFUSED" ? "closed" : "silent"));
  });
}
