/** What stands between a flow's bytes and its rules: one parser for each protocol, which makes transactions of them. */

import type { BufferName } from "../rules/buffer-names.ts";
import type { NumberField, WordCondition } from "../rules/condition.ts";

/** Which way bytes go: to who was spoken to, or back to who began. */
export type Direction = "to-server" | "to-client";

/** Numbers that a transaction has. The times of a certificate are in seconds since 1970. */
export type TransactionNumber = NumberField | "tls.not-before" | "tls.not-after";

/** A direction of which nothing more comes. */
export const STAGE_DONE = 255;

/** One transaction: what rules look at together. Its answers grow as more of it comes. */
export interface Transaction {
  /** As in `RuleProtocol.applications`: http, dns, tls, ssh, smtp, ftp, ftp-data, smb, … */
  readonly application: string;
  /** How far a direction is, by the application's own table of stages; `STAGE_DONE` when it is whole. */
  stageOf(direction: Direction): number;
  /**
   * The instances of a buffer as they are now; none where it is not there. The same list of the same views as long as nothing was added:
   * what is made of them is kept by their identity. Good as long as the transaction lives.
   */
  instancesOf(buffer: BufferName, direction: Direction): readonly Uint8Array[];
  numbersOf(field: TransactionNumber, direction: Direction): readonly number[];
  wordsOf(field: WordCondition["field"], direction: Direction): readonly string[];
  /** Names of events: `missing_host_header`. */
  readonly events: ReadonlySet<string>;
  /** Numbers in its buffers are little-endian, where a rule leaves it to DCE/RPC's header. */
  readonly isLittleEndian?: boolean;
  /** Fields for the alert (hostname, url, query, sni, …): plain JSON of bounded size, without credentials. */
  describe(): Readonly<Record<string, unknown>>;
}

/** Where a parser puts what it has found. All calls are synchronous. */
export interface ApplicationOutput {
  /** Something can be inspected in this direction that could not be before. */
  onChange(transaction: Transaction, direction: Direction): void;
  /** Nothing more comes for it: what is not there now will not be. */
  onEnd(transaction: Transaction): void;
  /** Bytes kept more (or less) than before: bounded over all flows. */
  hold(octets: number): void;
  /** Another protocol takes over: TLS (STARTTLS), or one to be recognized (CONNECT, Upgrade). Bytes behind the switch are given to it. */
  onSwitch(to: "tls" | "any"): void;
}

/** Bounds of one flow's parser. */
export interface ApplicationLimits {
  /** Of what is kept for all open transactions of a flow. */
  readonly bytesPerFlow: number;
  /** Open ones; the oldest ends for one more. */
  readonly transactionsPerFlow: number;
  /** Of a body, as Suricata's `request-body-limit` and `response-body-limit`. */
  readonly bodyBytes: number;
}

/** Suricata's defaults where it has such a bound. */
export const APPLICATION_LIMITS: ApplicationLimits = { bytesPerFlow: 2 * 1024 * 1024, transactionsPerFlow: 512, bodyBytes: 100 * 1024 };

/** The parser of one flow. It never throws; its memory is bounded; its work is linear in the bytes. */
export interface ApplicationParser {
  /** TCP: the next bytes, in order. UDP: one datagram. Views are good during the call only. */
  bytes(direction: Direction, bytes: Uint8Array, at: number): void;
  /** Bytes are missing for good. */
  gap(direction: Direction, octets: number, at: number): void;
  /** The flow is over, or nothing more is handed on. */
  end(at: number): void;
}

/** The flow that a parser is made for, as far as it matters to one. */
export interface ApplicationFlow {
  readonly transport: "tcp" | "udp";
  /** Of who began. */
  readonly clientPort: number;
  readonly serverPort: number;
}

/** Makes the parser of one flow. */
export type CreateApplication = (output: ApplicationOutput, limits: ApplicationLimits, flow: ApplicationFlow) => ApplicationParser;

/** When a buffer can be inspected. */
export interface BufferStage {
  /** `stageOf` its direction, from which it is there whole. */
  readonly stage: number;
  /** Inspected as it comes, before that stage too: bodies and what consists of many instances. */
  readonly grows: boolean;
}

/** What the bytes of a flow say of its protocol: certainly not, not enough of them yet, or certainly. */
export type RecognitionVerdict = "no" | "more" | "yes";

/** The first bytes of a flow. */
export interface FirstBytes {
  readonly flow: ApplicationFlow;
  readonly direction: Direction;
  /** All that this side has said so far; of UDP one datagram. */
  readonly bytes: Uint8Array;
  /** All that the other side has said so far. */
  readonly other: Uint8Array;
}

/** One application of the table. */
export interface Application {
  /** As in `RuleProtocol.applications`. */
  readonly name: string;
  readonly transports: readonly ("tcp" | "udp")[];
  readonly create: CreateApplication;
  /** What its transactions fill. A rule that names another buffer for this application is refused. */
  readonly buffers: ReadonlyMap<BufferName, BufferStage>;
  readonly numbers: ReadonlyMap<TransactionNumber, BufferStage>;
  readonly words: ReadonlyMap<WordCondition["field"], BufferStage>;
  /** Events that it may raise, without the application's name before them. */
  readonly events: ReadonlySet<string>;
  /** What `packages/traffic` calls it, where that recognizes it: `smb`, `dns`. */
  readonly service: string | null;
  /** Asked before packages/traffic where Suricata recognizes more, or otherwise; `null` for not. */
  readonly recognize: ((first: FirstBytes) => RecognitionVerdict) | null;
}
