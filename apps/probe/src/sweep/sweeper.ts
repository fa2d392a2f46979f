import type { Clock } from "@lanthorn/runtime";
import { formatPrefix, ipv4Bytes, ipv4Number } from "@lanthorn/packets";
import { type Link, ownAddressFor } from "../capture/link.ts";
import { encodeAllNodesEchoes, encodeAddressRequest } from "../egress/request-frames.ts";
import type { FrameSender } from "../egress/frame-sender.ts";
import { createPermutation } from "../probing/permutation.ts";
import type { SweepRange } from "./sweep-plan.ts";

/** What one sweep did. */
export interface SweepSummary {
  /** `refused` where there was nothing that may be swept; `aborted` when the interface went down, sending failed, or the probe stops. */
  readonly outcome: "completed" | "aborted" | "refused";
  /** Why not everything was swept, in words; empty where everything was. */
  readonly reasons: readonly string[];
  readonly networks: readonly string[];
  readonly addresses: number;
  readonly packetsSent: number;
  /** Addresses that spoke while the sweep ran. */
  readonly answered: number;
  readonly newHosts: number;
  readonly durationMs: number;
}

/** A sweep in progress. */
export interface Sweep {
  /** An IPv4 neighbor spoke: it need not be asked again. */
  noteAnswer(address: Uint8Array): void;
  abort(reason: string): void;
  /** Whether who joins now is not asked any more. */
  readonly isEnding: boolean;
  readonly done: Promise<Omit<SweepSummary, "newHosts">>;
}

/** Between two passes: most answers are back, so that only the lost are asked again. */
const PASS_GAP_MS = 1000;
/** After the last pass: dozing phones answer after two seconds. Still later answers count too, though not for the summary. */
const LATE_ANSWERS_MS = 3000;

/** Asks for every address of the ranges, then again for those that stayed silent. @param options.passes How often in all. */
export function startSweep(options: {
  readonly ranges: readonly SweepRange[];
  readonly passes: number;
  /** An address that need not be asked. */
  readonly isSkipped: (address: Uint8Array) => boolean;
  /** Whether all IPv6 nodes of the link are asked too, at each pass; true unless given. */
  readonly asksAllNodes?: boolean;
  /** Queries for all listeners to multicast groups, sent once; none unless given. */
  readonly listenerQueries?: (link: Link) => readonly Uint8Array[];
  readonly link: () => Link | null;
  readonly sender: FrameSender;
  readonly clock: Clock;
  readonly random: () => number;
}): Sweep {
  const { ranges, clock } = options;
  const startedAt = clock.monotonic();
  const stop = new AbortController();
  const targets = ranges.map((range) => ({
    ...range,
    answered: new Uint8Array(range.count),
    visit: createPermutation(range.count, options.random),
  }));
  let answered = 0;
  let isEnding = false;

  function* requests(pass: number): Generator<Uint8Array> {
    for (const { first, count, answered, visit } of targets) {
      for (let place = 0; place < count; place += 1) {
        const index = visit(place);
        const link = options.link();
        if (!link) return;
        const target = ipv4Bytes(first + index);
        // Own addresses, and those of a subnet that the interface has left, are not asked.
        if (answered[index] === 1 || !isOthersIn(link, target) || options.isSkipped(target)) continue;
        yield encodeAddressRequest(link, target, null) as Uint8Array;
      }
    }
    const link = options.link();
    if (link && options.asksAllNodes !== false) yield* encodeAllNodesEchoes(link, pass);
    if (link && pass === 1) yield* options.listenerQueries?.(link) ?? [];
  }
  const run = async () => {
    let packetsSent = 0;
    let outcome: SweepSummary["outcome"] = "completed";
    const reasons: string[] = [];
    try {
      for (let pass = 1; pass <= options.passes; pass += 1) {
        isEnding = pass === options.passes;
        packetsSent += await options.sender.send(requests(pass), stop.signal);
        await wait(clock, pass < options.passes ? PASS_GAP_MS : LATE_ANSWERS_MS, stop.signal);
      }
    } catch (error) {
      outcome = "aborted";
      reasons.push(error instanceof Error ? error.message : String(error));
    }
    return {
      outcome,
      reasons,
      packetsSent,
      answered,
      networks: ranges.map(({ network }) => formatPrefix(network)),
      addresses: ranges.reduce((sum, { count }) => sum + count, 0),
      durationMs: Math.round(clock.monotonic() - startedAt),
    };
  };
  return {
    noteAnswer(address) {
      const value = ipv4Number(address);
      for (const target of targets) {
        const index = value - target.first;
        if (index < 0 || index >= target.count || target.answered[index] === 1) continue;
        target.answered[index] = 1;
        answered += 1;
      }
    },
    get isEnding() {
      return isEnding;
    },
    abort(reason) {
      stop.abort(new Error(reason));
    },
    done: run(),
  };
}

function isOthersIn(link: Link, target: Uint8Array): boolean {
  const own = ownAddressFor(link, target);
  return own !== null && !link.own.some(({ bytes }) => bytes.length === 4 && ipv4Number(bytes) === ipv4Number(target));
}

function wait(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    const onAbort = () => {
      cancel();
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
