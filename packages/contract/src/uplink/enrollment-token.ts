/** An enrollment token in its two parts. */
export interface EnrollmentTokenParts {
  /** 32 random bytes, base64url: what the collector knows the token by. */
  readonly secret: string;
  /** SHA-256 of the CA certificate's SubjectPublicKeyInfo, base64url. @see RFC 7469 section 2.4 for the same pin */
  readonly caPin: string;
}

/** One word that an operator can copy: `lt1.<secret>.<pin>`. */
export function formatEnrollmentToken({ secret, caPin }: EnrollmentTokenParts): string {
  return `lt1.${secret}.${caPin}`;
}

/** @returns The parts, or null for a text that is no enrollment token. */
export function parseEnrollmentToken(text: string): EnrollmentTokenParts | null {
  const [, secret, caPin] = /^lt1\.([\w-]{43})\.([\w-]{43})$/.exec(text.trim()) ?? [];
  return secret && caPin ? { secret, caPin } : null;
}
