import { expect, test } from "vitest";
import { createTokenBucket, fillBucket } from "./token-bucket.ts";

test("what is used comes back with time, and never more than there is room for", () => {
  const bucket = createTokenBucket(5, 20, 1000);
  expect(fillBucket(bucket, 1000)).toBe(20);
  bucket.tokens -= 25;
  expect([fillBucket(bucket, 1000), fillBucket(bucket, 2000), fillBucket(bucket, 2100), fillBucket(bucket, 60_000)]).toEqual([-5, 0, 0.5, 20]);
});
