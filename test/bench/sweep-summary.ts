/** Makes one row of several measurements of the sweep bench. */
import type { PeerResult } from "./scan-peers.ts";
import type { SweepResult } from "./sweep-probe.ts";

/** One measurement, ours and each peer's. */
export interface SweepRun {
  readonly own: Omit<SweepResult, "hosts">;
  /** How many of the hosts that are there were found. */
  readonly found: number;
  readonly truth: number;
  readonly peers: Readonly<Record<string, PeerResult>>;
}

/** Of a peer: `found` and `false` are the worst, `seconds` the median. */
interface PeerRow extends PeerResult {
  readonly worst_seconds: number;
}

/** Of several runs `found` and `early` are the fewest, `seconds`, `cpu_seconds` and `frames` the medians. */
export interface SweepRow {
  readonly prefix: number;
  readonly live: string;
  readonly truth: number;
  readonly found: number;
  readonly seconds: number;
  readonly peers: Readonly<Record<string, PeerRow>>;
  readonly repeats: number;
  readonly worst_seconds: number;
  /** How many the scan had at its end, before the late answers. */
  readonly early: number;
  readonly cpu_seconds: number;
  readonly worst_cpu_seconds: number;
  /** Sent until the scan's end. */
  readonly frames: number;
  readonly worst_frames: number;
  /** The peer with the shortest median among those that found all hosts in all runs; null where there was none. */
  readonly fastest_peer: string | null;
  /** Our worst time in medians of that peer. */
  readonly worst_ratio: number | null;
}

/** The middle one, or the mean of the two in the middle; NaN of none. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** @param runs At least one, each with the same peers. */
export function summarize(layout: { readonly prefix: number; readonly live: string }, runs: readonly SweepRun[]): SweepRow {
  const truth = runs[0]?.truth ?? 0;
  const of = (read: (run: SweepRun) => number) => runs.map(read);
  const round = (value: number) => Math.round(value * 1000) / 1000;
  const names = Object.keys(runs[0]?.peers ?? {});
  const peers = Object.fromEntries(names.map((name): [string, PeerRow] => {
    const results = runs.flatMap((run) => run.peers[name] ?? []);
    const seconds = results.map((result) => result.seconds);
    return [name, {
      found: Math.min(...results.map((result) => result.found)), false: Math.max(...results.map((result) => result.false)),
      seconds: round(medianOf(seconds)), worst_seconds: Math.max(...seconds),
    }];
  }));
  const complete = names.filter((name) => (peers[name]?.found ?? 0) >= truth);
  const secondsOf = (name: string) => peers[name]?.seconds ?? Number.POSITIVE_INFINITY;
  const fastest = complete.toSorted((one, other) => secondsOf(one) - secondsOf(other))[0] ?? null;
  const worst = Math.max(...of(({ own }) => own.seconds));
  return {
    prefix: layout.prefix, live: layout.live, truth, found: Math.min(...of(({ found }) => found)),
    seconds: round(medianOf(of(({ own }) => own.seconds))), peers, repeats: runs.length, worst_seconds: worst,
    early: Math.min(...of(({ own }) => own.early)),
    cpu_seconds: round(medianOf(of(({ own }) => own.cpuSeconds))), worst_cpu_seconds: Math.max(...of(({ own }) => own.cpuSeconds)),
    frames: Math.round(medianOf(of(({ own }) => own.frames))), worst_frames: Math.max(...of(({ own }) => own.frames)),
    fastest_peer: fastest, worst_ratio: fastest === null ? null : round(worst / secondsOf(fastest)),
  };
}

/** Median and worst of a row, ours and each peer's, as one line. */
export function describeRow(row: SweepRow): string {
  const time = (who: { readonly seconds: number; readonly worst_seconds: number; readonly found: number }) =>
    `median ${who.seconds} s, worst ${who.worst_seconds} s, found ${who.found} of ${row.truth}`;
  const own = `ours ${time(row)}, ${row.frames} frames (most ${row.worst_frames}), processor ${row.cpu_seconds} s (most ${row.worst_cpu_seconds} s)`;
  const peers = Object.entries(row.peers).map(([name, peer]) => `${name} ${time(peer)}`);
  const ratio = row.worst_ratio === null ? [] : [`our worst is ${row.worst_ratio} × the median of ${row.fastest_peer}`];
  return [own, ...peers, ...ratio].join("; ");
}
