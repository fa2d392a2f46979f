import { expect, test } from "vitest";
import { murmur3 } from "./murmur3.ts";

test("texts of every length modulo four have their published hashes", () => {
  const hashes: readonly (readonly [string, number])[] = [
    ["", 0], ["test", 0xba6b_d213], ["Hello, world!", 0xc036_3e43], ["The quick brown fox jumps over the lazy dog", 0x2e4f_f723],
    ["hello", 0x248b_fa47], ["hello, world", 0x149b_bb7f],
  ];
  for (const [text, hash] of hashes) expect(murmur3(Buffer.from(text)) >>> 0, text).toBe(hash);
});
