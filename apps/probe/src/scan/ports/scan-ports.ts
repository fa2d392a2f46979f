import type { Clock } from "@lanthorn/runtime";
import type { PortCounts } from "@lanthorn/contract/uplink";
import { type ChunkState, createChunkState } from "./chunk-state.ts";
import { type Chunk, chunksOf } from "./chunks.ts";
import { type LossProbes, createLossProbes } from "../../probing/loss-probes.ts";
import { createPermutation } from "../../probing/permutation.ts";
import { noCounts } from "./port-counts.ts";
import { type PacketSource, type HostTarget, TCP_RST, TCP_SYN } from "../../probing/frames/packet.ts";
import { createTcpWriter } from "../../probing/frames/packet-writers.ts";
import type { ScanLink } from "../../probing/scan-link.ts";
import { createScanPump, type ScanPump } from "../../probing/scan-pump.ts";
import { createScanRate, type ScanRate } from "../../probing/scan-rate.ts";
import { type FrameView, readTcpAnswer, readTcpWindow, synCookie, type TcpState } from "../../probing/frames/tcp-answers.ts";

/** A SYN scan of many hosts' ports. */
export interface PortScan {
  /**
   * Asks these ports of these hosts.
   * @returns How many ports of each host are in which state, in the hosts' order.
   * @throws PacketIoError of sending, and the signal's reason.
   */
  scan(hosts: readonly HostTarget[], ports: readonly number[]): Promise<readonly PortCounts[]>;
  readonly sent: number;
  /** Questions that need no more asking, of those of the scan that runs: 0 to 1. */
  readonly progress: number;
}

/** Each unanswered question is asked twice; as long as repetitions find something, again. */
const MIN_ROUNDS = 2;
const MAX_ROUNDS = 6;
/** After the last question and the last answer, on a LAN. */
const QUIET_MS = 120;
const MAX_WAIT_MS = 1500;
/** Of an answered round, so much found by repetition means that frames get lost. */
const LOSS_SHARE = 0.002;
/** A small device's network stack takes this many SYN a second; more where it is seen to. */
const HOST_RATE_FIRST = 1500;
const HOST_RATE_MOST = 20_000;
const HOST_RATE_LOSSY = 250;
/** A scan begins no faster. */
const FIRST_RATE = 50_000;
/** Where silence says nothing, every so many frames one is a loss probe. */
const LOSS_PROBE_EVERY = 32;
/** Ports that nobody has open, from 40,000 to 63,999: who has them all open has nothing open, or a firewall answers for it. */
const DECOYS = 4;
const DECOY_FIRST = 40_000;
const DECOY_RANGE = 6000;

/**
 * @param deps.framesPerSecond Never more.
 * @param deps.onPort Each open port once, as soon as it answers; other states are not reported.
 * @param deps.onPhantom A host that answers on every port; none of its ports is reported. A tarpit is recognized by a window of 0.
 */
export function createPortScan(deps: {
  readonly link: ScanLink;
  readonly source: PacketSource;
  readonly framesPerSecond: number;
  /** How long answers may take: 120 ms unless given. */
  readonly quietMs?: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onPort: (host: HostTarget, port: number) => void;
  readonly onPhantom: (host: HostTarget, isTarpit: boolean) => void;
}): PortScan {
  const { link, clock, random } = deps;
  const write = createTcpWriter(deps.source);
  const decoys = Array.from({ length: DECOYS }, (_, index) => DECOY_FIRST + index * DECOY_RANGE + Math.floor(random() * DECOY_RANGE));
  const portIndex = new Int32Array(65_536);
  const hostIndex = new Map<number, number>();
  const counts = new Map<number, PortCounts>();
  /** Hosts that accept a connection and no data. */
  const windowless = new Set<number>();
  let current: ChunkState | null = null;
  let lossProbes: LossProbes = createLossProbes({ patienceMs: 0, onOutcome() {} });
  let questions = 0;
  let settled = 0;
  let heardAt = 0;
  let rate: ScanRate = createScanRate({ first: 1, most: 1, least: 1 });

  const reset = (host: HostTarget, port: number) => {
    const sequence = (synCookie(link.key, host.ip, port, link.port) + 1) >>> 0;
    // A half-open connection would keep a place in the host's backlog for a minute.
    pump.urgent((bytes, at) => write(bytes, at, host, { port, flags: TCP_RST, sequence, acknowledgment: 0 }));
  };
  const take = (frame: FrameView, ip: number, port: number, state: TcpState) => {
    const index = hostIndex.get(ip);
    const host = index === undefined ? undefined : current?.hosts[index];
    if (index === undefined || !host || !current) return;
    heardAt = clock.monotonic();
    if (state === "open") reset(host, port);
    if (state === "open" && readTcpWindow(frame) === 0) windowless.add(ip);
    if (state === "open" && decoys.includes(port)) current.noteDecoy(index, decoys.indexOf(port));
    const place = portIndex[port] as number;
    if (current.ports[place] !== port) return;
    if (!current.settle(index * current.ports.length + place)) {
      lossProbes.answered(index, port);
      return;
    }
    settled += 1;
    if (state !== "filtered") lossProbes.note(index, port, state === "open");
    rate.answered();
    (counts.get(ip) as PortCounts)[state] += 1;
    if (state !== "open") return;
    current.noteOpen(index);
    if (current.isSuspect(index)) current.hold(index, port);
    else deps.onPort(host, port);
  };
  const pump: ScanPump = createScanPump({
    link, clock, signal: deps.signal,
    onFrame(bytes, offset, length) {
      const frame = { bytes, offset, length };
      readTcpAnswer(frame, link, (ip, port, state) => take(frame, ip, port, state));
    },
  });

  const ask = (bytes: Uint8Array, at: number, host: HostTarget, port: number) =>
    write(bytes, at, host, { port, flags: TCP_SYN, sequence: synCookie(link.key, host.ip, port, link.port), acknowledgment: 0 });

  const askDecoys = async (hosts: readonly HostTarget[]) => {
    let place = 0;
    await pump.send((bytes, at) => {
      const host = hosts[Math.floor(place / DECOYS)];
      if (!host) return -1;
      place += 1;
      return ask(bytes, at, host, decoys[(place - 1) % DECOYS] as number);
    }, rate);
  };
  /** Asks what is unanswered, of the hosts that `isMeant`. */
  const askRound = async (state: ChunkState, isMeant: (host: number) => boolean) => {
    const { hosts, ports } = state;
    const count = hosts.length * ports.length;
    const visit = createPermutation(count, random);
    let place = 0;
    let untilLossProbe = LOSS_PROBE_EVERY;
    await pump.send((bytes, at) => {
      if (place >= count) return -1;
      if (untilLossProbe === 0) {
        untilLossProbe = LOSS_PROBE_EVERY;
        const lossProbe = rate.isBlind ? lossProbes.next(clock.monotonic()) : null;
        if (lossProbe) return ask(bytes, at, hosts[lossProbe.host] as HostTarget, lossProbe.port);
      }
      const question = visit(place);
      place += 1;
      const host = Math.floor(question / ports.length);
      if (state.isSettled(question) || state.isPhantom(host) || !isMeant(host)) return 0;
      untilLossProbe -= 1;
      return ask(bytes, at, hosts[host] as HostTarget, ports[question % ports.length] as number);
    }, rate);
    await hear(() => state.unsettled === 0);
  };
  const hear = async (isEnough: () => boolean) => {
    const askedAt = clock.monotonic();
    await pump.listen(MAX_WAIT_MS, () => isEnough() || clock.monotonic() - Math.max(askedAt, heardAt) >= (deps.quietMs ?? QUIET_MS));
  };
  /** A host with some decoys open is polled for all again before one of its ports is reported: the others' answers may have been lost. */
  const judgeSuspects = async (state: ChunkState) => {
    for (let round = 1; round <= MIN_ROUNDS; round += 1) {
      const open = state.hosts.filter((_, index) => state.isSuspect(index) && !state.isPhantom(index));
      if (open.length === 0) break;
      await askDecoys(open);
      await hear(() => false);
    }
    for (const [index, host] of state.hosts.entries()) {
      if (state.isPhantom(index)) deps.onPhantom(host, windowless.has(host.ip));
      else for (const port of state.heldOf(index)) deps.onPort(host, port);
    }
  };
  const scanChunk = async (chunk: Chunk<HostTarget>) => {
    const state = createChunkState(chunk);
    current = state;
    const patienceMs = deps.quietMs ?? QUIET_MS;
    lossProbes = createLossProbes({ patienceMs, onOutcome: (askedAt, isAnswered) => rate.noteLossProbe(askedAt, isAnswered) });
    hostIndex.clear();
    chunk.hosts.forEach(({ ip }, index) => hostIndex.set(ip, index));
    chunk.ports.forEach((port, index) => {
      portIndex[port] = index;
    });
    let perHost = HOST_RATE_FIRST;
    let firstRate = FIRST_RATE;
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      // By those that are still asked: the last silent one must not get what all got.
      const most = Math.min(deps.framesPerSecond, state.hostsLeft * HOST_RATE_MOST);
      rate = createScanRate({ first: Math.min(most, firstRate, state.hostsLeft * perHost), most, least: 500 });
      if (round === 1) await askDecoys(state.hosts);
      state.startRound();
      await askRound(state, round < 3 ? () => true : (host) => state.isLossy(host) || state.foundLate);
      firstRate = rate.framesPerSecond;
      if (state.unsettled === 0) break;
      if (round === 1) continue;
      if (round >= MIN_ROUNDS && !state.foundLate) break;
      if (state.settledInRound > settled * LOSS_SHARE) perHost = Math.max(HOST_RATE_LOSSY, perHost / 2);
    }
    settled += state.unsettled;
    await judgeSuspects(state);
  };
  return {
    async scan(hosts, ports) {
      questions = hosts.length * ports.length;
      settled = 0;
      for (const { ip } of hosts) counts.set(ip, noCounts());
      for (const chunk of chunksOf(hosts, ports)) await scanChunk(chunk);
      current = null;
      // What stays silent is filtered, in nmap's words.
      return hosts.map(({ ip }) => {
        const seen = counts.get(ip) ?? noCounts();
        return { ...seen, filtered: ports.length - seen.open - seen.closed };
      });
    },
    get sent() {
      return pump.sent;
    },
    get progress() {
      return questions === 0 ? 0 : Math.min(0.99, settled / questions);
    },
  };
}
