/** What fills up over time, to be used a part at a time, some of it at once. */
export interface TokenBucket {
  readonly perSecond: number;
  readonly most: number;
  /** As of `atMs`. Below zero where more was used than there was. */
  tokens: number;
  atMs: number;
}

/** @param most At once. @returns A full one. @param nowMs Of a clock that only rises. */
export function createTokenBucket(perSecond: number, most: number, nowMs: number): TokenBucket {
  return { perSecond, most, tokens: most, atMs: nowMs };
}

/** @returns What there is now. */
export function fillBucket(bucket: TokenBucket, nowMs: number): number {
  bucket.tokens = Math.min(bucket.most, bucket.tokens + (nowMs - bucket.atMs) / 1000 * bucket.perSecond);
  bucket.atMs = nowMs;
  return bucket.tokens;
}
