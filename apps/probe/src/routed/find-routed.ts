import type { Clock } from "@lanthorn/runtime";
import type { HostSearch } from "../search/find-neighbors.ts";
import { createPermutation } from "../probing/permutation.ts";
import { type PacketSource, type HostTarget, TCP_RST } from "../probing/frames/packet.ts";
import { createTcpWriter } from "../probing/frames/packet-writers.ts";
import type { RoutedAddresses } from "../probing/routed-addresses.ts";
import type { ScanLink } from "../probing/scan-link.ts";
import { createScanPump, type ScanPump } from "../probing/scan-pump.ts";
import { createScanRate } from "../probing/scan-rate.ts";
import { createRoutedAnswers } from "./routed-answers.ts";
import { createRoutedPolls, type WriteRoutedPoll } from "./routed-polls.ts";

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
  const { clock, addresses, source, gatewayMac } = deps;
  const { count: total, size } = addresses;
  const most = Math.min(deps.framesPerSecond, MAX_RATE);
  const rate = createScanRate({ first: FIRST_RATE, most, least: MIN_RATE });
  let askedAt = 0;
  let asked = 0;

  const tcp = createTcpWriter(source);
  const hostAt = (place: number): HostTarget => ({ ...addresses.at(place), mac: gatewayMac });
  const answers = createRoutedAnswers({
    ...deps, rate, hostAt,
    onHalfOpen: (host, segment) =>
      pump.urgent((bytes, at) => tcp(bytes, at, host, { ...segment, flags: TCP_RST, acknowledgment: 0 })),
  });
  const pump: ScanPump = createScanPump({ ...deps, onFrame: answers.take });
  const waves = createRoutedPolls({ ...deps, size });
  const askWave = async (wave: readonly WriteRoutedPoll[]) => {
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
      return answers.hasAnswered(target) ? 0 : (wave[question % wave.length] as WriteRoutedPoll)(bytes, at, hostAt(target));
    }, rate);
    askedAt = clock.monotonic();
  };
  const hear = (quietMs: number) =>
    pump.listen(MAX_WAIT_MS, () => answers.found >= total || clock.monotonic() - Math.max(askedAt, answers.heardAt) >= quietMs);
  return {
    async find() {
      for (let pass = 1, again = true; again; pass += 1) {
        const before = answers.found;
        for (const wave of waves) {
          await askWave(wave);
          await hear(QUIET_MS);
        }
        const recovered = pass === 1 ? 0 : answers.found - before;
        const isLossy = recovered > Math.max(1, answers.found * LOSS_SHARE);
        if (isLossy) rate.backOff();
        again = deps.isRepeated && answers.found < total && (pass === 1 || (isLossy && pass < MAX_PASSES));
      }
      await hear(LAST_QUIET_MS);
      answers.judge();
    },
    async findLate() {
      if (answers.found < total) await pump.listen(LATE_MS, () => answers.found >= total);
      answers.judge();
    },
    get progress() {
      return Math.min(0.99, asked / (total * waves.flat().length * 2));
    },
  };
}
