/** What a service of UDP has of a datagram's sender, and what it gives back. */
import type { Peer, Stage } from "../service.ts";

/** Who sent a datagram. The address may be forged, so answers have bounds that the service asks for. */
export interface Caller extends Pick<Peer, "address" | "gave" | "isProgram" | "now" | "random" | "reached" | "tried"> {
  readonly port: number;
  /** Octets that an answer may have: those of the question, or what fits a frame where the address is proven. */
  readonly room: number;
  /** Those that an answer may have which cannot be shorter: a little more for who has asked little yet. */
  readonly mostRoom: number;
  /** Sends it, unless it is longer than `mostRoom`. */
  answer(bytes: Uint8Array): void;
  /** Goes on from a port of its own, as TFTP does. Null where too many do. @param read What comes from there. @param onEnd Once, however it ends. */
  openTransfer(read: (bytes: Buffer) => void, onEnd: () => void): Transfer | null;
}

/** A conversation on a port of its own. It ends by itself where nothing comes. */
export interface Transfer {
  send(bytes: Uint8Array): void;
  close(): void;
}

/** @returns What reads each datagram. What it throws is that datagram's alone. */
export type DatagramService = (stage: Stage) => (datagram: Buffer, caller: Caller) => void;
