import type { Clock } from "@lanthorn/runtime";
import type { HostSearch } from "../search/find-neighbors.ts";
import { addressCookie, readHostSign } from "../probing/frames/host-signs.ts";
import { createPermutation } from "../probing/permutation.ts";
import { type PacketSource, type HostTarget, TCP_ACK, TCP_RST, TCP_SYN } from "../probing/frames/packet.ts";
import { createEchoWriter, createTcpWriter, createTimestampWriter, createUdpWriter } from "../probing/frames/packet-writers.ts";
import { bytesOf, type RoutedAddresses } from "../probing/routed-addresses.ts";
import type { ScanLink } from "../probing/scan-link.ts";
import { createScanPump, type ScanPump } from "../probing/scan-pump.ts";
import { createScanRate } from "../probing/scan-rate.ts";
import { udpRequests } from "../probing/frames/udp-requests.ts";

/** A link's answer takes milliseconds, a line's to another place some hundred. */
const QUIET_MS = 150;
const LAST_QUIET_MS = 700;
const MAX_WAIT_MS = 3000;
/** Who answers the second time only shows that packets get lost: then it is asked again, slower. */
const MAX_PASSES = 4;
const LOSS_SHARE = 0.01;
const LATE_MS = 3000;
/** Lines between sites are slower than links. */
const FIRST_RATE = 1000;
const MAX_RATE = 10_000;
const MIN_RATE = 50;
const UDP_PORTS = [53, 123, 137] as const;
/**
 * Where a firewall answers for a network, all of it answers by TCP, also where nobody is. Fewer say nothing; hosts that answer by ICMP are
 * believed.
 */
const FIREWALL = { fewest: 32, share: 0.9 } as const;

/**
 * Searches hosts behind a router, from what is hardly ever dropped to what hardly anybody drops: echo, SYN to 443 and ACK to 80, timestamp
 * and SYN to 22 and 80, datagrams to DNS, NTP and NetBIOS and SYN to 3389 and 445. Each wave asks those who have not answered yet.
 * @param deps.onFound Each address once.
 * @param deps.onFirewall Something answers for so many addresses that it cannot be hosts; those are not reported.
 */
export function createRoutedSearch(deps: {
  readonly link: ScanLink;
  readonly source: PacketSource;
  readonly gatewayMac: Uint8Array;
  readonly addresses: RoutedAddresses;
  /** Whether the silent are all asked a second time, and again where frames get lost. */
  readonly isRepeated: boolean;
  readonly framesPerSecond: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onFound: (host: HostTarget) => void;
  readonly onFirewall: (addresses: number) => void;
}): HostSearch {
  const { link, clock, addresses, source, gatewayMac } = deps;
  const { count: total, size } = addresses;
  const seen = new Uint8Array(total);
  /** Answered by TCP alone: reported when it is known that no firewall does so for all. */
  const held = new Set<number>();
  const most = Math.min(deps.framesPerSecond, MAX_RATE);
  const rate = createScanRate({ first: FIRST_RATE, most, least: MIN_RATE });
  let heardAt = 0;
  let askedAt = 0;
  let found = 0;
  let asked = 0;
  let isFirewalled = false;

  const hostAt = (place: number): HostTarget => ({ ...addresses.at(place), mac: gatewayMac });
  const tell = (place: number) => {
    const host = hostAt(place);
    deps.onFound(host.address6 ? { ...host, ip: link.book.numberFor(host.address6) } : host);
  };
  const tcp = createTcpWriter(source);
  const pump: ScanPump = createScanPump({
    ...deps,
    onFrame: (bytes, offset, length) => readHostSign({ bytes, offset, length }, link, ({ at, size: addressSize, kind, halfOpen }) => {
      const place = addresses.placeOf(bytes, at, addressSize);
      if (place >= 0 && halfOpen) {
        pump.urgent((into, from) => tcp(into, from, hostAt(place), { ...halfOpen, flags: TCP_RST, acknowledgment: 0 }));
      }
      if (place < 0 || (seen[place] === 1 && (kind === "tcp" || !held.has(place)))) return;
      heardAt = clock.monotonic();
      if (seen[place] === 0) {
        found += 1;
        rate.answered();
      }
      seen[place] = 1;
      if (kind !== "tcp") {
        held.delete(place);
        tell(place);
      } else held.add(place);
    }),
  });

  const cookieOf = (host: HostTarget, port: number) => {
    const address = bytesOf(host);
    return addressCookie({ key: link.key, ownPort: link.port }, address, 0, size, port);
  };
  type Ask = (bytes: Uint8Array, at: number, host: HostTarget) => number;
  const waves = createWaves();
  function createWaves(): readonly (readonly Ask[])[] {
    const [echo, udp] = [createEchoWriter(source), createUdpWriter(source)];
    const timestamp = createTimestampWriter(source);
    const syn = (port: number): Ask =>
      (bytes, at, host) => tcp(bytes, at, host, { port, flags: TCP_SYN, sequence: cookieOf(host, port), acknowledgment: 0 });
    const ack = (port: number): Ask =>
      (bytes, at, host) => tcp(bytes, at, host, { port, flags: TCP_ACK, sequence: 0, acknowledgment: cookieOf(host, port) });
    const ping: Ask = (bytes, at, host) => echo(bytes, at, host, cookieOf(host, 0) & 0xffff);
    const time: Ask = (bytes, at, host) => timestamp(bytes, at, host, cookieOf(host, 0) & 0xffff);
    const datagrams = udpRequests(UDP_PORTS, source, deps.random).map(({ port, payloads: [payload = new Uint8Array(1)] }): Ask =>
      (bytes, at, host) => udp(bytes, at, host, { port, payload }));
    return [[ping], [syn(443), ack(80)], [...(size === 4 ? [time] : []), syn(22), syn(80)], [...datagrams, syn(445), syn(3389)]];
  }

  const askWave = async (wave: readonly Ask[]) => {
    const count = total * wave.length;
    const visit = createPermutation(count, deps.random);
    let place = 0;
    rate.askOthers();
    await pump.send((bytes, at) => {
      if (place >= count) return -1;
      const question = visit(place);
      place += 1;
      asked += 1;
      const target = Math.floor(question / wave.length);
      return seen[target] === 1 ? 0 : (wave[question % wave.length] as Ask)(bytes, at, hostAt(target));
    }, rate);
    askedAt = clock.monotonic();
  };
  const hear = (quietMs: number) =>
    pump.listen(MAX_WAIT_MS, () => found >= total || clock.monotonic() - Math.max(askedAt, heardAt) >= quietMs);
  /** Tells those that answered by TCP alone, unless a firewall does so for everybody. */
  const judge = () => {
    const silent = total - found;
    const isAll = addresses.isWhole && held.size >= FIREWALL.fewest && held.size >= (held.size + silent) * FIREWALL.share;
    if (isAll && !isFirewalled) deps.onFirewall(held.size);
    isFirewalled ||= isAll;
    if (isFirewalled) return;
    for (const place of held) tell(place);
    held.clear();
  };
  return {
    async find() {
      for (let pass = 1, again = true; again; pass += 1) {
        const before = found;
        for (const wave of waves) {
          await askWave(wave);
          await hear(QUIET_MS);
        }
        const recovered = pass === 1 ? 0 : found - before;
        const isLossy = recovered > Math.max(1, found * LOSS_SHARE);
        if (isLossy) rate.backOff();
        again = deps.isRepeated && found < total && (pass === 1 || (isLossy && pass < MAX_PASSES));
      }
      await hear(LAST_QUIET_MS);
      judge();
    },
    async findLate() {
      if (found < total) await pump.listen(LATE_MS, () => found >= total);
      judge();
    },
    get progress() {
      return Math.min(0.99, asked / (total * waves.flat().length * 2));
    },
  };
}
