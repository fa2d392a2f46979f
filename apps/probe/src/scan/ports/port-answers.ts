import type { PortCounts } from "@lanthorn/contract/uplink";
import type { Clock } from "@lanthorn/runtime";
import type { HostTarget } from "../../probing/frames/packet.ts";
import { type FrameView, readTcpAnswer, readTcpWindow, type TcpState } from "../../probing/frames/tcp-answers.ts";
import type { LossProbes } from "../../probing/loss-probes.ts";
import type { ScanLink } from "../../probing/scan-link.ts";
import type { ScanRate } from "../../probing/scan-rate.ts";
import type { ChunkState } from "./chunk-state.ts";
import { noCounts } from "./port-counts.ts";

/** What answers are to. */
export interface PortRound {
  readonly state: ChunkState;
  readonly lossProbes: LossProbes;
  /** Another one in each round. */
  rate: ScanRate;
}

/** The answers to a SYN scan. */
export interface PortAnswers {
  /** Answers from here on are to these ports of these hosts. */
  begin(round: PortRound): void;
  /** Answers from here on are too late. */
  end(): void;
  /** Reads a frame where the kernel wrote it. */
  take(bytes: Uint8Array, offset: number, length: number): void;
  /** When the last answer of one of the hosts came; monotonic. */
  readonly heardAt: number;
  /** How many questions have been answered since `reset`. */
  readonly settled: number;
  /** Nothing is known of these hosts' ports. */
  reset(hosts: readonly HostTarget[]): void;
  /** How many of a host's ports answered, and how. */
  countsOf(host: HostTarget): PortCounts;
  /** Whether the host accepts a connection and no data. */
  isWindowless(host: HostTarget): boolean;
}

/**
 * @param deps.decoys Ports that nobody has open.
 * @param deps.onHalfOpen A connection is half open, and has to be reset.
 * @param deps.onPort Each open port once, of hosts that are not suspected to answer on every port.
 */
export function createPortAnswers(deps: {
  readonly link: ScanLink;
  readonly clock: Pick<Clock, "monotonic">;
  readonly decoys: readonly number[];
  readonly onHalfOpen: (host: HostTarget, port: number) => void;
  readonly onPort: (host: HostTarget, port: number) => void;
}): PortAnswers {
  const { link, clock, decoys } = deps;
  const portIndex = new Int32Array(65_536);
  const hostIndex = new Map<number, number>();
  const counts = new Map<number, PortCounts>();
  const windowless = new Set<number>();
  let current: PortRound | null = null;
  let heardAt = 0;
  let settled = 0;

  const noteOpen = (frame: FrameView, host: HostTarget, port: number) => {
    deps.onHalfOpen(host, port);
    if (readTcpWindow(frame) === 0) windowless.add(host.ip);
  };
  const noteSettled = ({ state, lossProbes, rate }: PortRound, { index, port, answer }: {
    readonly index: number; readonly port: number; readonly answer: TcpState;
  }) => {
    const host = state.hosts[index] as HostTarget;
    settled += 1;
    if (answer !== "filtered") lossProbes.note(index, port, answer === "open");
    rate.answered();
    (counts.get(host.ip) as PortCounts)[answer] += 1;
    if (answer !== "open") return;
    state.noteOpen(index);
    if (state.isSuspect(index)) state.hold(index, port);
    else deps.onPort(host, port);
  };
  const take = (frame: FrameView, ip: number, port: number, answer: TcpState) => {
    const index = hostIndex.get(ip);
    const host = index === undefined ? undefined : current?.state.hosts[index];
    if (index === undefined || !host || !current) return;
    const { state, lossProbes } = current;
    heardAt = clock.monotonic();
    if (answer === "open") noteOpen(frame, host, port);
    if (answer === "open" && decoys.includes(port)) state.noteDecoy(index, decoys.indexOf(port));
    const place = portIndex[port] as number;
    if (state.ports[place] !== port) return;
    if (state.settle(index * state.ports.length + place)) noteSettled(current, { index, port, answer });
    else lossProbes.answered(index, port);
  };
  return {
    begin(round) {
      current = round;
      hostIndex.clear();
      round.state.hosts.forEach(({ ip }, index) => hostIndex.set(ip, index));
      round.state.ports.forEach((port, index) => {
        portIndex[port] = index;
      });
    },
    end() {
      current = null;
    },
    take(bytes, offset, length) {
      const frame = { bytes, offset, length };
      readTcpAnswer(frame, link, (ip, port, answer) => take(frame, ip, port, answer));
    },
    get heardAt() {
      return heardAt;
    },
    get settled() {
      return settled;
    },
    reset(hosts) {
      settled = 0;
      for (const { ip } of hosts) counts.set(ip, noCounts());
    },
    countsOf: ({ ip }) => counts.get(ip) ?? noCounts(),
    isWindowless: ({ ip }) => windowless.has(ip),
  };
}
