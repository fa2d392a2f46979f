/** What a parser of a stream protocol is: bytes of either side in order in, messages out. */

/** One side of a connection, as its parser sees it. */
export interface Intake {
  readonly side: 0 | 1;
  /**
   * The parser sets it where it takes less than is there: it is not called again before that many bytes are. Unless it does, one byte
   * more than now.
   */
  needed: number;
  /** The parser's own: how much of what is there was searched before. 0 again when bytes are taken. */
  scanned: number;
  /** What the side may still have done; the parser takes from it what it does beside one step. @see work-account.ts */
  credit: number;
  /** The parser sets it when it wants nothing more of this side. */
  isOver: boolean;
}

/** The parser of one connection. None throws, whatever comes. */
export interface StreamParser {
  /** A message that is longer is given up, and its side with it. */
  readonly maxPendingBytes: number;
  /** What takes the connection over from here on: `tls`, `any` (to be recognized anew), or nothing. */
  readonly releasedTo: "" | "any" | "tls";
  /**
   * Reads from the front of what is there, at least one byte.
   * @returns How many bytes it took. 0: it needs more. More than are there: the rest is skipped unseen as it comes.
   */
  read(intake: Intake, bytes: Uint8Array, at: number): number;
  /**
   * Bytes are missing between what it took last and what comes next; what it had left is gone.
   * @returns Whether it can make sense of what follows.
   */
  gap(intake: Intake): boolean;
  /** The connection is over. */
  end(at: number): void;
}

/** The parser of one flow of datagrams. None throws, whatever comes. */
export interface DatagramParser {
  /** It wants no more. */
  readonly isOver: boolean;
  read(side: 0 | 1, bytes: Uint8Array, at: number): void;
}

/** Says how many bytes a parser keeps more (or less) than before, beside what it was given: they count for the bound of all flows. */
export type Hold = (octets: number) => void;

/** Asks for work that the bytes of a datagram do not pay for. @returns Whether it may be done now. @see work-account.ts */
export type Pay = (units: number, at: number) => boolean;

/** What every message says beside its protocol's own. */
export interface MessageOrigin {
  /** Who sent it, as the flow counts its sides. */
  readonly side: 0 | 1;
  /** Captured time of its last segment, in microseconds. */
  readonly at: number;
}
