import type { Clock } from "@lanthorn/runtime";
import { type AddressPrefix, ipv4Number, prefixHolds } from "@lanthorn/packets";
import type { HostSearch } from "./find-neighbors.ts";
import { wordAt } from "../probing/frames/frame-words.ts";
import { createPermutation } from "../probing/permutation.ts";
import type { HostTarget } from "../probing/frames/packet.ts";
import { createEchoWriter } from "../probing/frames/packet-writers.ts";
import { createSolicitationWriter } from "../probing/frames/packet-writers-ipv6.ts";
import type { ScanLink } from "../probing/scan-link.ts";
import { createScanPump } from "../probing/scan-pump.ts";
import { createScanRate } from "../probing/scan-rate.ts";
import { ICMPV6, IPV6 } from "../probing/frames/tcp-answers.ts";

/** Whom to look for on the own link by IPv6. */
export interface Neighbors6 {
  readonly prefix: AddressPrefix;
  /** Own addresses to ask from, the one that is nearest to the prefix first; at least one. */
  readonly sources: readonly Uint8Array[];
  /** Addresses in the prefix that somebody was seen at. */
  readonly observed: readonly Uint8Array[];
}

/** A prefix with so few host bits is asked through; of a larger one, those that show themselves. */
export const MAX_HOST_BITS = 16;
const PASSES = 3;
/** Who answers all nodes looks for our MAC before; some wait a moment, so that not all answer at once. */
const QUIET_MS = 120;
const MAX_WAIT_MS = 1500;
const LATE_REPEAT_MS = 1000;
const LATE_MS = 4500;
const FIRST_RATE = 20_000;
const MIN_RATE = 1000;
const NEIGHBOR_ADVERTISEMENT = 136;
const ALL_NODES: HostTarget = {
  ip: 0, address6: Uint8Array.of(0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), mac: Uint8Array.of(0x33, 0x33, 0, 0, 0, 1),
};

/**
 * Searches hosts on the own link by IPv6: an echo request to all nodes from each own address, a Neighbor Solicitation for each address that
 * was seen, and for each of a small prefix. Whatever an address says meanwhile counts, router advertisements and listener reports too.
 * @param deps.onFound Each address once.
 * @see RFC 4443 section 4.2, RFC 4861 section 7.2
 */
export function createNeighborSearch6(deps: Neighbors6 & {
  readonly link: ScanLink;
  readonly mac: Uint8Array;
  readonly framesPerSecond: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onFound: (host: HostTarget) => void;
}): HostSearch {
  const { link, clock, prefix, sources, observed } = deps;
  const hostBits = 128 - prefix.length;
  const counted = hostBits <= MAX_HOST_BITS ? 2 ** hostBits : 0;
  const total = counted + observed.length;
  const firstNumber = ipv4Number(prefix.bytes, 12);
  const packetSources = sources.map((address6) => ({ mac: deps.mac, ip: 0, address6, port: link.port }));
  const echoes = packetSources.map((source) => createEchoWriter(source));
  const solicit = createSolicitationWriter(packetSources[0] ?? { mac: deps.mac, ip: 0, address6: new Uint8Array(16), port: link.port });
  const rate = createScanRate({ first: FIRST_RATE, most: deps.framesPerSecond, least: Math.min(MIN_RATE, deps.framesPerSecond) });
  const isOwn = (address: Uint8Array) => sources.some((own) => own.every((byte, index) => byte === address[index]));
  let heardAt = 0;
  let askedAt = 0;
  let asked = 0;
  let found = 0;

  const addressAt = (place: number): Uint8Array =>
    (place >= counted ? observed[place - counted] as Uint8Array : numbered(prefix.bytes, firstNumber + place));
  const note = (bytes: Uint8Array, at: number, mac: Uint8Array) => {
    if (!prefixHolds(prefix, bytes, at, 16) || bytes[at] === 0xff || link.book.find(bytes, at) >= 0) return;
    const address6 = bytes.slice(at, at + 16);
    if (isOwn(address6) || address6.every((byte) => byte === 0)) return;
    heardAt = clock.monotonic();
    found += 1;
    rate.answered();
    deps.onFound({ ip: link.book.numberFor(address6), address6, mac });
  };
  const pump = createScanPump({
    ...deps,
    onFrame(bytes, offset, length) {
      if (length < 62 || wordAt(bytes, offset + 12) !== IPV6 || ((bytes[offset + 6] as number) & 1) !== 0) return;
      const mac = bytes.slice(offset + 6, offset + 12);
      note(bytes, offset + 22, mac);
      const isAdvertisement = bytes[offset + 20] === ICMPV6 && bytes[offset + 54] === NEIGHBOR_ADVERTISEMENT && length >= 78;
      // From the own link only, as a router would have counted the hop. @see RFC 4861 section 7.1.2
      if (isAdvertisement && bytes[offset + 21] === 255) note(bytes, offset + 62, mac);
    },
  });
  const askSilent = async (pass: number) => {
    const visit = createPermutation(Math.max(total, 1), deps.random);
    let place = -echoes.length;
    rate.askOthers();
    await pump.send((bytes, at) => {
      if (place >= total) return -1;
      place += 1;
      if (place <= 0) return (echoes[-place] as (typeof echoes)[number])(bytes, at, ALL_NODES, pass);
      asked += 1;
      const address = addressAt(visit(place - 1));
      return link.book.find(address, 0) >= 0 || isOwn(address) ? 0 : solicit(bytes, at, address);
    }, rate);
    askedAt = clock.monotonic();
  };
  const isQuiet = () => clock.monotonic() - Math.max(askedAt, heardAt) >= QUIET_MS;
  return {
    async find() {
      for (let pass = 1; pass <= PASSES; pass += 1) {
        const before = found;
        await askSilent(pass);
        await pump.listen(MAX_WAIT_MS, isQuiet);
        if (pass > 1 && found === before) break;
      }
    },
    async findLate() {
      await pump.listen(LATE_REPEAT_MS, () => false);
      await askSilent(PASSES + 1);
      await pump.listen(LATE_MS - LATE_REPEAT_MS, () => false);
    },
    get progress() {
      return Math.min(0.99, asked / Math.max(1, total * 2));
    },
  };
}

/** The address with another number in its last four octets. */
function numbered(bytes: Uint8Array, number: number): Uint8Array {
  const address = bytes.slice();
  new DataView(address.buffer).setUint32(12, number);
  return address;
}
