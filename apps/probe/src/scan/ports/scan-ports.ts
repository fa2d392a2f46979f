import type { Clock } from "@lanthorn/runtime";
import type { PortCounts } from "@lanthorn/contract/uplink";
import { createChunkState } from "./chunk-state.ts";
import { type Chunk, chunksOf } from "./chunks.ts";
import { createLossProbes } from "../../probing/loss-probes.ts";
import { type PacketSource, type HostTarget, TCP_RST } from "../../probing/frames/packet.ts";
import { createTcpWriter } from "../../probing/frames/packet-writers.ts";
import { synCookie } from "../../probing/frames/tcp-answers.ts";
import type { ScanLink } from "../../probing/scan-link.ts";
import { createScanPump, type ScanPump } from "../../probing/scan-pump.ts";
import { createScanRate } from "../../probing/scan-rate.ts";
import { createPortAnswers, type PortAnswers, type PortRound } from "./port-answers.ts";
import { createPortPolls, type PortPolls } from "./port-polls.ts";

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
/** Of an answered round, so much found by repetition means that frames get lost. */
const LOSS_SHARE = 0.002;
/** A small device's network stack takes this many SYN a second; more where it is seen to. */
const HOST_RATE_FIRST = 1500;
const HOST_RATE_MOST = 20_000;
const HOST_RATE_LOSSY = 250;
/** A scan begins no faster. */
const FIRST_RATE = 50_000;
/** Ports that nobody has open, from 40,000 to 63,999: who has them all open has nothing open, or a firewall answers for it. */
const DECOYS = 4;
const DECOY_FIRST = 40_000;
const DECOY_RANGE = 6000;

/** What a port scan needs. */
export interface PortScanDeps {
  readonly link: ScanLink;
  readonly source: PacketSource;
  /** Never more. */
  readonly framesPerSecond: number;
  /** How long answers may take: 120 ms unless given. */
  readonly quietMs?: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Each open port once, as soon as it answers; other states are not reported. */
  readonly onPort: (host: HostTarget, port: number) => void;
  /** A host that answers on every port; none of its ports is reported. A tarpit is recognized by a window of 0. */
  readonly onPhantom: (host: HostTarget, isTarpit: boolean) => void;
}

/** Nothing is sent before `scan`. */
export function createPortScan(deps: PortScanDeps): PortScan {
  const { link, clock, random, quietMs = QUIET_MS } = deps;
  const write = createTcpWriter(deps.source);
  const decoys = Array.from({ length: DECOYS }, (_, index) => DECOY_FIRST + index * DECOY_RANGE + Math.floor(random() * DECOY_RANGE));
  let questions = 0;
  /** What stayed silent, of the chunks that are done. */
  let silent = 0;
  const onHalfOpen = (host: HostTarget, port: number) => {
    const sequence = (synCookie(link.key, host.ip, port, link.port) + 1) >>> 0;
    // A half-open connection would keep a place in the host's backlog for a minute.
    pump.urgent((bytes, at) => write(bytes, at, host, { port, flags: TCP_RST, sequence, acknowledgment: 0 }));
  };
  const answers = createPortAnswers({ ...deps, decoys, onHalfOpen });
  const pump: ScanPump = createScanPump({ link, clock, signal: deps.signal, onFrame: answers.take });
  const polls = createPortPolls({ link, clock, random, pump, write, decoys, answers, quietMs });
  return {
    async scan(hosts, ports) {
      questions = hosts.length * ports.length;
      silent = 0;
      answers.reset(hosts);
      for (const chunk of chunksOf(hosts, ports)) {
        const unanswered = await scanChunk(chunk, { ...deps, quietMs, answers, polls, silent });
        silent += unanswered;
      }
      answers.end();
      // What stays silent is filtered, in nmap's words.
      return hosts.map((host) => {
        const seen = answers.countsOf(host);
        return { ...seen, filtered: ports.length - seen.open - seen.closed };
      });
    },
    get sent() {
      return pump.sent;
    },
    get progress() {
      return questions === 0 ? 0 : Math.min(0.99, (answers.settled + silent) / questions);
    },
  };
}

/** What scanning a chunk needs. */
type ChunkDeps = Pick<PortScanDeps, "framesPerSecond" | "onPort" | "onPhantom"> & {
  readonly quietMs: number;
  readonly answers: PortAnswers;
  readonly polls: PortPolls;
  /** Questions of earlier chunks that nobody has answered. */
  readonly silent: number;
};

/** @returns How many questions nobody has answered. */
async function scanChunk(chunk: Chunk<HostTarget>, deps: ChunkDeps): Promise<number> {
  const { answers, polls } = deps;
  const state = createChunkState(chunk);
  const onOutcome = (askedAt: number, isAnswered: boolean) => round.rate.noteLossProbe(askedAt, isAnswered);
  const round: PortRound = {
    state, lossProbes: createLossProbes({ patienceMs: deps.quietMs, onOutcome }), rate: createScanRate({ first: 1, most: 1, least: 1 }),
  };
  answers.begin(round);
  let perHost = HOST_RATE_FIRST;
  let firstRate = FIRST_RATE;
  for (let number = 1; number <= MAX_ROUNDS; number += 1) {
    // By those that are still asked: the last silent one must not get what all got.
    const most = Math.min(deps.framesPerSecond, state.hostsLeft * HOST_RATE_MOST);
    round.rate = createScanRate({ first: Math.min(most, firstRate, state.hostsLeft * perHost), most, least: 500 });
    if (number === 1) await polls.askDecoys(round, state.hosts);
    state.startRound();
    await polls.askRound(round, number < 3 ? () => true : (host) => state.isLossy(host) || state.foundLate);
    firstRate = round.rate.framesPerSecond;
    if (state.unsettled === 0) break;
    if (number === 1) continue;
    if (number >= MIN_ROUNDS && !state.foundLate) break;
    if (state.settledInRound > (answers.settled + deps.silent) * LOSS_SHARE) perHost = Math.max(HOST_RATE_LOSSY, perHost / 2);
  }
  await judgeSuspects(round, deps);
  return state.unsettled;
}

/** A host with some decoys open is polled for all again before one of its ports is reported: the others' answers may have been lost. */
async function judgeSuspects(round: PortRound, { answers, polls, onPort, onPhantom }: ChunkDeps): Promise<void> {
  const { state } = round;
  for (let attempt = 1; attempt <= MIN_ROUNDS; attempt += 1) {
    const open = state.hosts.filter((_, index) => state.isSuspect(index) && !state.isPhantom(index));
    if (open.length === 0) break;
    await polls.askDecoys(round, open);
    await polls.hear(() => false);
  }
  for (const [index, host] of state.hosts.entries()) {
    if (state.isPhantom(index)) onPhantom(host, answers.isWindowless(host));
    else for (const port of state.heldOf(index)) onPort(host, port);
  }
}
