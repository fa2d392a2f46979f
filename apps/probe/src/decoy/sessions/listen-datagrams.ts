/** A port of UDP that a decoy serves: who calls is reported whatever comes, and answered within limits. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import type { Clock } from "@lanthorn/runtime";
import type { Caller } from "../services/datagrams/service.ts";
import type { AnswerLimits } from "./answer-limits.ts";
import type { DecoyListener } from "./listen.ts";
import { createRecent } from "./recent.ts";
import { type IsBait, reportTo, type Witness } from "./reports.ts";
import type { TransferTable } from "./transfers.ts";

/** What it stands on. */
export interface DatagramDeps {
  readonly read: (datagram: Buffer, caller: Caller) => void;
  /** Somebody is there who was not lately. */
  readonly callWitness: (source: string, port: number) => Witness;
  readonly isBait: IsBait;
  readonly limits: AnswerLimits;
  readonly transfers: TransferTable;
  /** A service threw. */
  readonly onFailure: (error: unknown) => void;
  readonly randomBytes: (octets: number) => Buffer;
  readonly clock: Pick<Clock, "monotonic" | "now">;
}

/** Who sends from the same port within it is the same caller. */
const CALLER_MS = 60_000;
const MAX_CALLERS = 2048;
/** Of what waits in the kernel during a busy moment, which gives no more than net.core.rmem_max. */
const RECEIVE_BYTES = 4 * 1024 * 1024;

/** @param port 0: the kernel chooses. @throws Error as node:dgram does. */
export async function listenForDatagrams(address: string, port: number, deps: DatagramDeps): Promise<DecoyListener> {
  const socket = createSocket({ type: isIPv6(address) ? "udp6" : "udp4", recvBufferSize: RECEIVE_BYTES });
  const callers = createRecent<Witness>(MAX_CALLERS, CALLER_MS);
  const { limits, clock } = deps;
  socket.bind({ address, port, exclusive: true });
  await once(socket, "listening");
  // An answer that cannot be sent is one that does not come.
  socket.on("error", () => undefined);
  socket.on("message", (datagram, { address: source, port: sourcePort }) => {
    // No system sends from there, and nothing can be answered.
    if (sourcePort === 0) return;
    const witness = callers.of(`${source} ${sourcePort}`, clock.monotonic(), () => deps.callWitness(source, sourcePort));
    try {
      deps.read(datagram, createCaller(socket, { address, source, sourcePort, asked: datagram.length, witness }, deps));
    } catch (error) {
      deps.onFailure(error);
    }
  });
  return {
    port: socket.address().port,
    close: () => new Promise((resolve) => void socket.close(() => resolve())),
  };

  function createCaller(from: Socket, given: { readonly address: string; readonly source: string; readonly sourcePort: number; readonly asked: number; readonly witness: Witness }, { isBait, transfers, randomBytes }: DatagramDeps): Caller {
    const { source, sourcePort, asked, witness } = given;
    const room = limits.room(source, asked, clock.monotonic());
    const maySend = (octets: number): boolean => {
      if (octets === 0 || octets > room.mostRoom) return false;
      limits.sent(source, asked, octets, clock.monotonic());
      return true;
    };
    return {
      address: source, port: sourcePort, ...room, ...reportTo(witness, isBait), random: randomBytes, now: () => new Date(clock.now()),
      answer(bytes) {
        if (maySend(bytes.length)) from.send(bytes, sourcePort, source);
      },
      openTransfer: (read, onEnd) => (room.mostRoom === 0 ? null : transfers.open({ address: given.address, peer: source, peerPort: sourcePort, mayBegin: maySend, read, onEnd, onFailure: deps.onFailure })),
    };
  }
}
