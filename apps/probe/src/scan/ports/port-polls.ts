import type { Clock } from "@lanthorn/runtime";
import { createPermutation } from "../../probing/permutation.ts";
import { type HostTarget, TCP_SYN, type TcpSegment, type Writer } from "../../probing/frames/packet.ts";
import { synCookie } from "../../probing/frames/tcp-answers.ts";
import type { ScanLink } from "../../probing/scan-link.ts";
import type { ScanPump } from "../../probing/scan-pump.ts";
import type { PortAnswers, PortRound } from "./port-answers.ts";

/** Asks hosts for their ports by SYN, and waits for the answers. */
export interface PortPolls {
  /** Asks what is unanswered, of the hosts that `isMeant`, by their places in the chunk. @throws As `ScanPump.send`. */
  askRound(round: PortRound, isMeant: (host: number) => boolean): Promise<void>;
  /** Asks for ports that nobody has open. @throws As `ScanPump.send`. */
  askDecoys(round: PortRound, hosts: readonly HostTarget[]): Promise<void>;
  /** Listens until it is quiet, or `isEnough`. @throws As `ScanPump.listen`. */
  hear(isEnough: () => boolean): Promise<void>;
}

/** However often answers come. */
const MAX_WAIT_MS = 1500;
/** Where silence says nothing, every so many frames one is a loss probe. */
const LOSS_PROBE_EVERY = 32;

/** @param deps.quietMs How long answers may take. */
export function createPortPolls(deps: {
  readonly link: Pick<ScanLink, "key" | "port">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly random: () => number;
  readonly pump: Pick<ScanPump, "send" | "listen">;
  readonly write: Writer<TcpSegment>;
  readonly decoys: readonly number[];
  readonly answers: Pick<PortAnswers, "heardAt">;
  readonly quietMs: number;
}): PortPolls {
  const { link, clock, random, pump, write, decoys, answers } = deps;
  const ask = (bytes: Uint8Array, at: number, host: HostTarget, port: number) =>
    write(bytes, at, host, { port, flags: TCP_SYN, sequence: synCookie(link.key, host.ip, port, link.port), acknowledgment: 0 });
  const hear = async (isEnough: () => boolean) => {
    const askedAt = clock.monotonic();
    await pump.listen(MAX_WAIT_MS, () => isEnough() || clock.monotonic() - Math.max(askedAt, answers.heardAt) >= deps.quietMs);
  };
  return {
    hear,
    async askDecoys({ rate }, hosts) {
      let place = 0;
      await pump.send((bytes, at) => {
        const host = hosts[Math.floor(place / decoys.length)];
        if (!host) return -1;
        place += 1;
        return ask(bytes, at, host, decoys[(place - 1) % decoys.length] as number);
      }, rate);
    },
    async askRound({ state, rate, lossProbes }, isMeant) {
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
    },
  };
}
