import type { Clock } from "@lanthorn/runtime";
import { type Chunk, chunksOf } from "./chunks.ts";
import { createPermutation } from "./permutation.ts";
import { type Asker, createTcpWriter, type HostTarget, TCP_RST, TCP_SYN } from "./question-frames.ts";
import type { ScanLink } from "./scan-link.ts";
import { createScanPump, type ScanPump } from "./scan-pump.ts";
import { createScanRate, type ScanRate } from "./scan-rate.ts";
import { readTcpAnswer, synCookie, type TcpState } from "./tcp-answers.ts";

/** A SYN scan of many hosts' ports. */
export interface PortScan {
  /** Asks these ports of these hosts. @throws PacketIoError of sending, and the signal's reason. */
  scan(hosts: readonly HostTarget[], ports: readonly number[]): Promise<void>;
  readonly sent: number;
  /** Questions that need no more asking, of those of the scan that runs: 0 to 1. */
  readonly progress: number;
}

/** Each unanswered question is asked twice; as long as repetitions find something, again. */
const FEWEST_ROUNDS = 2;
const MOST_ROUNDS = 6;
/** After the last question: a LAN answers within milliseconds, a routed host within a few hundred. */
const QUIET_MS = 120;
const LONGEST_WAIT_MS = 1500;
/** Of an answered round, so much found by repetition means that frames get lost. */
const LOSS_SHARE = 0.002;
/** A small device's network stack takes this many SYN a second; more where it is seen to. */
const HOST_RATE_FIRST = 1500;
const HOST_RATE_MOST = 20_000;
const HOST_RATE_LOSSY = 250;
/** Ports that nobody has open, from 40,000 to 63,999: who has them all open has nothing open, or a firewall answers for it. */
const DECOYS = 4;
const DECOYS_OPEN = 3;
const DECOY_FIRST = 40_000;
const DECOY_RANGE = 6000;

/**
 * @param deps.framesPerSecond Never more.
 * @param deps.onPort Each open port once, as soon as it answers; other states are not told.
 * @param deps.onPhantom A host that answers on every port; no port of it is told.
 */
export function createPortScan(deps: {
  readonly link: ScanLink;
  readonly asker: Asker;
  readonly framesPerSecond: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onPort: (host: HostTarget, port: number) => void;
  readonly onPhantom: (host: HostTarget) => void;
}): PortScan {
  const { link, clock, random } = deps;
  const write = createTcpWriter(deps.asker);
  const decoys = Array.from({ length: DECOYS }, (_, index) => DECOY_FIRST + index * DECOY_RANGE + Math.floor(random() * DECOY_RANGE));
  const portIndex = new Int32Array(65_536);
  const hostIndex = new Map<number, number>();
  let current: ChunkState | null = null;
  let questions = 0;
  let settled = 0;
  let heardAt = 0;
  let rate: ScanRate = createScanRate({ first: 1, most: 1, least: 1 });

  const reset = (host: HostTarget, port: number) => {
    const sequence = (synCookie(link.key, host.ip, port, link.port) + 1) >>> 0;
    // A half-open connection would keep a place in the host's backlog for a minute.
    pump.urgent((bytes, at) => write(bytes, at, host, { port, flags: TCP_RST, sequence, acknowledgment: 0 }));
  };
  const take = (ip: number, port: number, state: TcpState) => {
    const index = hostIndex.get(ip);
    const host = index === undefined ? undefined : current?.hosts[index];
    if (index === undefined || !host || !current) return;
    heardAt = clock.monotonic();
    if (state === "open") reset(host, port);
    if (state === "open" && decoys.includes(port)) current.noteDecoy(index, decoys.indexOf(port));
    const place = portIndex[port] as number;
    if (current.ports[place] !== port || !current.settle(index * current.ports.length + place)) return;
    settled += 1;
    rate.answered();
    if (state !== "open") return;
    current.noteOpen(index);
    if (current.isSuspect(index)) current.hold(index, port);
    else deps.onPort(host, port);
  };
  const pump: ScanPump = createScanPump({
    link, clock, signal: deps.signal, onFrame: (bytes, offset, length) => readTcpAnswer({ bytes, offset, length }, link, take),
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
    await pump.send((bytes, at) => {
      if (place >= count) return -1;
      const question = visit(place);
      place += 1;
      const host = Math.floor(question / ports.length);
      if (state.isSettled(question) || state.isPhantom(host) || !isMeant(host)) return 0;
      return ask(bytes, at, hosts[host] as HostTarget, ports[question % ports.length] as number);
    }, rate);
    await hear(() => state.unsettled === 0);
  };
  const hear = async (isEnough: () => boolean) => {
    const askedAt = clock.monotonic();
    await pump.listen(LONGEST_WAIT_MS, () => isEnough() || clock.monotonic() - Math.max(askedAt, heardAt) >= QUIET_MS);
  };
  /** Who has some decoys open is asked for all again before a port of it is told: the others' answers may have been lost. */
  const judgeSuspects = async (state: ChunkState) => {
    for (let round = 1; round <= FEWEST_ROUNDS; round += 1) {
      const open = state.hosts.filter((_, index) => state.isSuspect(index) && !state.isPhantom(index));
      if (open.length === 0) break;
      await askDecoys(open);
      await hear(() => false);
    }
    for (const [index, host] of state.hosts.entries()) {
      if (state.isPhantom(index)) deps.onPhantom(host);
      else for (const port of state.heldOf(index)) deps.onPort(host, port);
    }
  };
  const scanChunk = async (chunk: Chunk<HostTarget>) => {
    const state = createChunkState(chunk);
    current = state;
    hostIndex.clear();
    chunk.hosts.forEach(({ ip }, index) => hostIndex.set(ip, index));
    chunk.ports.forEach((port, index) => {
      portIndex[port] = index;
    });
    let perHost = HOST_RATE_FIRST;
    for (let round = 1; round <= MOST_ROUNDS; round += 1) {
      const first = Math.min(deps.framesPerSecond, chunk.hosts.length * perHost);
      rate = createScanRate({ first: Math.min(first, 50_000), most: Math.min(deps.framesPerSecond, chunk.hosts.length * HOST_RATE_MOST), least: 500 });
      if (round === 1) await askDecoys(state.hosts);
      state.startRound();
      await askRound(state, round < 3 ? () => true : (host) => state.isLossy(host) || state.foundLate);
      if (state.unsettled === 0) break;
      if (round === 1) continue;
      if (round >= FEWEST_ROUNDS && !state.foundLate) break;
      if (state.settledInRound > settled * LOSS_SHARE) perHost = Math.max(HOST_RATE_LOSSY, perHost / 2);
    }
    settled += state.unsettled;
    await judgeSuspects(state);
  };
  return {
    async scan(hosts, ports) {
      questions = hosts.length * ports.length;
      settled = 0;
      for (const chunk of chunksOf(hosts, ports)) await scanChunk(chunk);
      current = null;
    },
    get sent() {
      return pump.sent;
    },
    get progress() {
      return questions === 0 ? 0 : Math.min(0.99, settled / questions);
    },
  };
}

/** What is known of the questions of one chunk: a bit each, and a few numbers for each host. */
interface ChunkState extends Chunk<HostTarget> {
  /** @returns False where it was settled before. */
  settle(question: number): boolean;
  isSettled(question: number): boolean;
  readonly unsettled: number;
  startRound(): void;
  readonly settledInRound: number;
  /** An open port answered a repetition only: frames get lost. */
  readonly foundLate: boolean;
  noteOpen(host: number): void;
  isLossy(host: number): boolean;
  noteDecoy(host: number, decoy: number): void;
  /** Has one open: its ports are held until it is known for what it is. */
  isSuspect(host: number): boolean;
  hold(host: number, port: number): void;
  heldOf(host: number): readonly number[];
  isPhantom(host: number): boolean;
}

function createChunkState(chunk: Chunk<HostTarget>): ChunkState {
  const count = chunk.hosts.length * chunk.ports.length;
  const bits = new Uint8Array(Math.ceil(count / 8));
  const decoysOpen = new Uint8Array(chunk.hosts.length);
  const held = new Map<number, number[]>();
  const lossy = new Uint8Array(chunk.hosts.length);
  let unsettled = count;
  let settledInRound = 0;
  let round = 0;
  let foundLate = false;
  return {
    ...chunk,
    settle(question) {
      const bit = 1 << (question & 7);
      if (((bits[question >>> 3] as number) & bit) !== 0) return false;
      bits[question >>> 3] = (bits[question >>> 3] as number) | bit;
      unsettled -= 1;
      settledInRound += 1;
      return true;
    },
    isSettled: (question) => ((bits[question >>> 3] as number) & (1 << (question & 7))) !== 0,
    get unsettled() {
      return unsettled;
    },
    startRound() {
      round += 1;
      settledInRound = 0;
      foundLate = false;
    },
    get settledInRound() {
      return settledInRound;
    },
    get foundLate() {
      return foundLate;
    },
    noteOpen(host) {
      if (round < 2) return;
      foundLate = true;
      lossy[host] = 1;
    },
    isLossy: (host) => lossy[host] === 1,
    noteDecoy(host, decoy) {
      decoysOpen[host] = (decoysOpen[host] as number) | (1 << decoy);
    },
    isSuspect: (host) => decoysOpen[host] !== 0,
    hold(host, port) {
      const ports = held.get(host);
      if (ports) ports.push(port);
      else held.set(host, [port]);
    },
    heldOf: (host) => held.get(host) ?? [],
    isPhantom: (host) => bitsSet(decoysOpen[host] as number) >= DECOYS_OPEN,
  };
}

function bitsSet(mask: number): number {
  let count = 0;
  for (let rest = mask; rest > 0; rest &= rest - 1) count += 1;
  return count;
}
