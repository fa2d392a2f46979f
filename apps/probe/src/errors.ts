/** Why a command of the probe ended; each has its own exit code, by which a script distinguishes them. */
export const EXIT_CODES = {
  "config-invalid": 1,
  "failed": 1,
  "not-enrolled": 3,
  "already-running": 4,
  "storage-unavailable": 5,
  "missing-capability": 6,
  "not-running": 7,
  "token-malformed": 20,
  "token-unknown": 21,
  "token-used": 22,
  "token-expired": 23,
  "wrong-pin": 24,
  "clock-skew": 25,
  "unreachable": 26,
  "already-enrolled": 27,
  "not-a-collector": 28,
  "insecure-url": 29,
  "refused": 30,
  "fingerprints-unavailable": 31,
  "fingerprints-refused": 32,
  "file-refused": 33,
  "bundle-unavailable": 34,
  "bundle-refused": 35,
  "port-in-use": 36,
} as const;
/** A key of `EXIT_CODES`. */
export type ProbeErrorCode = keyof typeof EXIT_CODES;

/** What the probe cannot carry on from. The message names the thing and what to do about it. */
export class ProbeError extends Error {
  override readonly name = "ProbeError";
  readonly code: ProbeErrorCode;

  constructor(code: ProbeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
