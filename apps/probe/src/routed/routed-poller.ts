import { describeError } from "@lanthorn/runtime";
import type { EgressPolicy } from "../egress/policy.ts";
import type { RoutedAddresses } from "../probing/routed-addresses.ts";
import type { RoutedNetwork } from "./routed-plan.ts";
import type { RoutedPoll } from "./routed-poll.ts";
import type { RoutedPollResult } from "./table/routed-table.ts";

/** What a poll behind a router is made with. */
export interface RoutedRequest {
  /** What the addresses are called in messages. */
  readonly network: string;
  readonly addresses: RoutedAddresses;
  readonly framesPerSecond: number;
  readonly signal: AbortSignal;
}

/** Polls addresses of one network at a time. */
export interface RoutedPoller {
  /** Begins a poll. Call it only while none is in progress. */
  begin(network: RoutedNetwork, addresses: RoutedAddresses): void;
  /** Whether frames of a poll are going out: then half of the rate is its. */
  readonly isPolling: boolean;
  /** Ends the poll in progress. Its result does not count. */
  abort(reason: string): Promise<void>;
}

/**
 * @param deps.poll As `pollBehindRouter`, by the way to the first of the addresses.
 * @param deps.onResult A poll has ended.
 * @param deps.onFailed A network could not be polled.
 * @param deps.onFault Says once in a while what is wrong.
 */
export function createRoutedPoller(deps: {
  readonly policy: Pick<EgressPolicy, "packetsPerSecond" | "exclusions">;
  readonly poll: (request: RoutedRequest) => Promise<RoutedPoll>;
  readonly onResult: (result: RoutedPollResult) => void;
  readonly onFailed: (network: RoutedNetwork) => void;
  readonly onFault: (code: string, message: string) => void;
}): RoutedPoller {
  const { policy, onFault } = deps;
  let running: { readonly stop: AbortController; readonly ended: Promise<void> } | null = null;

  async function poll(network: RoutedNetwork, addresses: RoutedAddresses, signal: AbortSignal): Promise<void> {
    const { name } = network;
    try {
      const { answered, madeUp, isRouterThere } = await deps.poll({
        network: name, addresses, signal, framesPerSecond: Math.max(1, Math.floor(policy.packetsPerSecond / 2)),
      });
      if (!isRouterThere) onFault("router-silent", `the router to ${name} does not answer: hosts behind it are not seen`);
      if (madeUp > 0) {
        const text = `in ${name} something answers for ${madeUp} addresses that cannot all be hosts: a firewall; they are not reported as hosts`;
        onFault("answers-for-network", text);
      }
      const wasPolled = (bytes: Uint8Array) => addresses.placeOf(bytes, 0, bytes.length) >= 0 && !policy.exclusions.holds(bytes);
      deps.onResult({ network: name, wasPolled, answered: answered.filter(wasPolled), isConclusive: madeUp === 0 });
    } catch (error) {
      if (signal.aborted) return;
      deps.onFailed(network);
      onFault("network-not-watched", `sweep.routed: ${name} was not polled: ${describeError(error)}`);
    }
  }

  return {
    begin(network, addresses) {
      const stop = new AbortController();
      const ended = poll(network, addresses, stop.signal).finally(() => {
        running = null;
      });
      running = { stop, ended };
    },
    get isPolling() {
      return running !== null;
    },
    async abort(reason) {
      const ending = running;
      ending?.stop.abort(new Error(reason));
      await ending?.ended;
    },
  };
}
