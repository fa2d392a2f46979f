/** Bounds of the engine. */

import { APPLICATION_LIMITS, type ApplicationLimits } from "../applications/application.ts";

/** What the engine keeps and does at most. */
export interface EngineLimits {
  /** Bytes of a stream's side that are inspected, as Suricata's `reassembly.depth`. */
  readonly streamDepth: number;
  /** Bytes that wait behind a hole in one side of a stream. */
  readonly heldPerStream: number;
  /** Bytes that all flows together keep: streams, what waits to be inspected, and what parsers hold. */
  readonly total: number;
  /** Steps of all rules for one packet, some 10 ns each; what is beyond is not inspected, and counted. */
  readonly stepsPerPacket: number;
  /** The same for one rule. */
  readonly stepsPerRule: number;
  /** Of xbits and hostbits, and of counts for thresholds, each. */
  readonly hostEntries: number;
  /** Connections of which the handshake was not seen are put in order too; Suricata's `midstream`. */
  readonly isMidstream: boolean;
  /** So are those of which one side alone is seen; Suricata's `async-oneside`. */
  readonly isOneSided: boolean;
  readonly application: ApplicationLimits;
}

/** Suricata's where it has such a bound. */
export const ENGINE_LIMITS: EngineLimits = {
  streamDepth: 1024 * 1024, heldPerStream: 256 * 1024, total: 64 * 1024 * 1024, stepsPerPacket: 1_500_000, stepsPerRule: 500_000, hostEntries: 100_000,
  isMidstream: false, isOneSided: false, application: APPLICATION_LIMITS,
};
