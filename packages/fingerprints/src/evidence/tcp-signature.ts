import type { DeviceClaim } from "./device-claims.ts";

/** What a host's SYN, or its answer to ours, looks like. */
export interface TcpSignature {
  /** A SYN-ACK: its sender saw which options we offered. */
  readonly isAnswer: boolean;
  /** As it came: on the own link nobody has lowered it. */
  readonly hopLimit: number;
  readonly window: number;
  /**
   * The options' first letters in wire order: `M` segment size, `S` selective acknowledgment, `T`
   * timestamps, `N` no operation, `W` window scale, `?` any other.
   */
  readonly options: string;
}

interface Known {
  readonly hopLimit: number;
  readonly options: RegExp;
  /** Which windows it offers; every one where it is left out. */
  readonly window?: (window: number) => boolean;
  readonly os: string;
  readonly confidence: number;
}

/** By the order in which each system's code writes its options. @see RFC 9293 section 3.2, RFC 7323 */
const SIGNATURES: readonly Known[] = [
  { hopLimit: 64, options: /^MSTNW$/, os: "Linux", confidence: 0.6 },
  { hopLimit: 64, options: /^MNNSNW$/, os: "Linux", confidence: 0.5 },
  { hopLimit: 128, options: /^MNW(?:NNS|ST|NNTNNS)$/, os: "Windows", confidence: 0.6 },
  { hopLimit: 64, options: /^MNWNNTS$/, window: (window) => window === 65_535, os: "Darwin", confidence: 0.6 },
  { hopLimit: 64, options: /^MNWST$/, window: (window) => window === 65_535, os: "FreeBSD", confidence: 0.55 },
  { hopLimit: 64, options: /^MNNSNWNNT$/, window: (window) => window === 16_384, os: "OpenBSD", confidence: 0.6 },
  { hopLimit: 255, options: /^M$/, window: (window) => window === 4128, os: "Cisco IOS", confidence: 0.55 },
];

/** @returns One claim of the system, or none for what is nobody's in particular. */
export function readTcpSignature(signature: TcpSignature): readonly DeviceClaim[] {
  const known = SIGNATURES.find(({ hopLimit, options, window }) =>
    hopLimit === signature.hopLimit && options.test(signature.options) && (window?.(signature.window) ?? true));
  if (!known) return [];
  return [{ field: "os", value: known.os, source: signature.isAnswer ? "tcp:syn-ack" : "tcp:syn", confidence: known.confidence }];
}
