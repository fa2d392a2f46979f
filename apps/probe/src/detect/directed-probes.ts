import type { PacedSender } from "@lanthorn/packet-io";
import { describeError, type Log } from "@lanthorn/runtime";
import { createLink, type LinkFacts } from "../capture/link.ts";
import { createFrameSender } from "../egress/frame-sender.ts";
import { GUARD_FRAMES } from "../egress/frames.ts";
import type { EgressPolicy } from "../egress/policy.ts";
import { encodeAddressProbe } from "../egress/request-frames.ts";

/** What guards send to check a hint. Answers come as frames. */
export interface DirectedProbes {
  /**
   * Asks one host alone whether it has an address, and claims none.
   * @param address Four or sixteen bytes.
   * @param mac Six bytes.
   * @returns Whether it is taken: its silence says something.
   */
  ask(address: Uint8Array, mac: Uint8Array): boolean;
  /**
   * Sends a whole frame of a kind in `GUARD_FRAMES`; others are left out. Nothing while the interface is down or too much waits.
   * @param isUrgent Before those that are not: a few questions to all, which would come too late behind a flood of hints.
   * @returns Whether it is taken: who waits for an answer must know that something was asked.
   */
  send(frame: Uint8Array, isUrgent?: boolean): boolean;
  close(): void;
}

/** Below the 15 ARP packets a second at which Dynamic ARP Inspection shuts a port, with room for the sweep. */
const PACKETS_PER_SECOND = 8;
/** What waits, of each of the two kinds; a flood of hints is checked by samples. */
const MAX_WAITING = 64;

/** @param deps.isActive Whether guards may send at all. */
export function createDirectedProbes(deps: {
  readonly sender: Pick<PacedSender, "send">;
  readonly policy: EgressPolicy;
  readonly link: () => LinkFacts | null;
  readonly isActive: () => boolean;
  readonly log: Pick<Log, "debug">;
}): DirectedProbes {
  const urgent: Uint8Array[] = [];
  const waiting: Uint8Array[] = [];
  const take = () => urgent.shift() ?? waiting.shift();
  const closing = new AbortController();
  let isSending = false;
  let taken = 0;
  const frames = createFrameSender({
    sender: deps.sender, allowed: GUARD_FRAMES, exclusions: () => deps.policy.exclusions, onSent: () => undefined,
    packetsPerSecond: () => Math.min(PACKETS_PER_SECOND, deps.policy.packetsPerSecond),
  });
  function* next(): Generator<Uint8Array> {
    for (let frame = take(); frame !== undefined; frame = take()) {
      taken += 1;
      yield frame;
    }
  }
  async function drain(): Promise<void> {
    isSending = true;
    try {
      // What comes while the last ones leave is sent too; a sender that takes nothing, as in a replay, is not asked again.
      for (let before = -1; urgent.length + waiting.length > 0 && before !== taken;) {
        before = taken;
        await frames.send(next(), closing.signal);
      }
    } catch (error) {
      deps.log.debug({ reason: describeError(error) }, "a guard's probe could not be sent");
    } finally {
      isSending = false;
      urgent.length = waiting.length = 0;
    }
  }
  function send(frame: Uint8Array, isUrgent = false): boolean {
    const queue = isUrgent ? urgent : waiting;
    if (closing.signal.aborted || !deps.isActive() || !deps.policy.mayAsk || queue.length >= MAX_WAITING || deps.link()?.up !== true) return false;
    queue.push(frame);
    if (!isSending) void drain();
    return true;
  }
  return {
    ask(address, mac) {
      const link = createLink(deps.link());
      return link !== null && send(encodeAddressProbe(link, address, mac));
    },
    send,
    close: () => closing.abort(),
  };
}
