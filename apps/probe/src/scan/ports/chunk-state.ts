import type { Chunk } from "./chunks.ts";
import type { HostTarget } from "../../probing/frames/packet.ts";

/** Of the ports that nobody has open, so many make a host one that answers on every port. */
const DECOYS_OPEN = 3;

/** What is known of the questions of one chunk: a bit each, and a few numbers for each host. */
export interface ChunkState extends Chunk<HostTarget> {
  /** @returns False where it was settled before. */
  settle(question: number): boolean;
  isSettled(question: number): boolean;
  readonly unsettled: number;
  /** Hosts with questions that are not settled. */
  readonly hostsLeft: number;
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

/** A question's index is host × number of ports + port, both by their places in `chunk`. Nothing is settled yet. */
export function createChunkState(chunk: Chunk<HostTarget>): ChunkState {
  const count = chunk.hosts.length * chunk.ports.length;
  const bits = new Uint8Array(Math.ceil(count / 8));
  const decoysOpen = new Uint8Array(chunk.hosts.length);
  const held = new Map<number, number[]>();
  const lossy = new Uint8Array(chunk.hosts.length);
  const left = new Uint32Array(chunk.hosts.length).fill(chunk.ports.length);
  let unsettled = count;
  let hostsLeft = chunk.hosts.length;
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
      const host = Math.floor(question / chunk.ports.length);
      left[host] = (left[host] as number) - 1;
      if (left[host] === 0) hostsLeft -= 1;
      return true;
    },
    isSettled: (question) => ((bits[question >>> 3] as number) & (1 << (question & 7))) !== 0,
    get unsettled() {
      return unsettled;
    },
    get hostsLeft() {
      return hostsLeft;
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
