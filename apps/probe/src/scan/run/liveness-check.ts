import type { Clock } from "@lanthorn/runtime";
import { ipv4Bytes, ipv4Number } from "@lanthorn/packets";
import { addressCookie, readHostSign } from "../../probing/frames/host-signs.ts";
import { type PacketSource, type HostTarget, TCP_RST, TCP_SYN } from "../../probing/frames/packet.ts";
import { createEchoWriter, createTcpWriter } from "../../probing/frames/packet-writers.ts";
import type { ScanLink } from "../../probing/scan-link.ts";
import { createScanPump, type ScanPump } from "../../probing/scan-pump.ts";
import { createScanRate } from "../../probing/scan-rate.ts";

const PASSES = 2;
const QUIET_MS = 100;
const MAX_WAIT_MS = 1000;
const FIRST_RATE = 20_000;
const MIN_RATE = 1000;
/** One that many have open, one that hardly anybody has: who drops the one refuses the other. */
const PORTS = [443, 40_125] as const;

/**
 * Asks hosts on the own link, whose MACs are known, for a sign that they are there: an echo, or any answer to a SYN.
 * @returns The numbers of those that gave one.
 * @throws PacketIoError of sending, and the signal's reason.
 */
export async function checkLiveness(
  hosts: readonly HostTarget[],
  deps: {
    readonly link: ScanLink;
    readonly source: PacketSource;
    readonly framesPerSecond: number;
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<ReadonlySet<number>> {
  const { link, clock } = deps;
  const byNumber = new Map(hosts.map((host) => [host.ip, host]));
  const there = new Set<number>();
  const rate = createScanRate({ first: FIRST_RATE, most: deps.framesPerSecond, least: Math.min(MIN_RATE, deps.framesPerSecond) });
  let heardAt = 0;
  const pump: ScanPump = createScanPump({
    ...deps,
    onFrame: (bytes, offset, length) => readHostSign({ bytes, offset, length }, link, ({ at, size, halfOpen }) => {
      const ip = size === 4 ? ipv4Number(bytes, at) : link.book.find(bytes, at);
      const host = byNumber.get(ip);
      if (host && halfOpen) pump.urgent((into, from) => tcp(into, from, host, { ...halfOpen, flags: TCP_RST, acknowledgment: 0 }));
      if (!host || there.has(ip)) return;
      there.add(ip);
      heardAt = clock.monotonic();
      rate.answered();
    }),
  });
  const [echo, tcp] = [createEchoWriter(deps.source), createTcpWriter(deps.source)];
  const cookieOf = ({ ip, address6 }: HostTarget, port: number) => {
    const address = address6 ?? ipv4Bytes(ip);
    return addressCookie({ key: link.key, ownPort: link.port }, address, 0, address.length, port);
  };
  const questions = 1 + PORTS.length;
  for (let pass = 1; pass <= PASSES && there.size < byNumber.size; pass += 1) {
    let place = 0;
    await pump.send((bytes, at) => {
      const host = hosts[place % hosts.length];
      const question = Math.floor(place / hosts.length);
      if (!host || question >= questions) return -1;
      place += 1;
      const port = PORTS[question - 1];
      if (there.has(host.ip)) return 0;
      if (port === undefined) return echo(bytes, at, host, cookieOf(host, 0) & 0xffff);
      return tcp(bytes, at, host, { port, flags: TCP_SYN, sequence: cookieOf(host, port), acknowledgment: 0 });
    }, rate);
    const askedAt = clock.monotonic();
    await pump.listen(MAX_WAIT_MS, () => there.size === byNumber.size || clock.monotonic() - Math.max(askedAt, heardAt) >= QUIET_MS);
  }
  return there;
}
