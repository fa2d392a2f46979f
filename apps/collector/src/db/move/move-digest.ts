import { createHash } from "node:crypto";

/** A value as one database or the other gives it: SQLite's integers are bigint here, PostgreSQL's numbers. */
export type Cell = string | number | bigint | Uint8Array | null;

/** A checksum over rows that does not depend on their order: the sum of their hashes. */
export interface Digest {
  add(row: readonly Cell[]): void;
  rows(): number;
  /** 32 hexadecimal digits. */
  checksum(): string;
}

/** A digest of no rows yet. Its sum is the first 128 bits of each row's SHA-256, added modulo 2^128. */
export function createDigest(): Digest {
  let rows = 0;
  let sum = 0n;
  return {
    add(row) {
      rows += 1;
      const hash = createHash("sha256").update(JSON.stringify(row.map(spell))).digest();
      sum = BigInt.asUintN(128, sum + hash.readBigUInt64BE(0) * 2n ** 64n + hash.readBigUInt64BE(8));
    },
    rows: () => rows,
    checksum: () => sum.toString(16).padStart(32, "0"),
  };
}

/** One spelling for a value in both, and no two values with one: `1` and `"1"` differ, 1 and 1.0 do not. */
function spell(cell: Cell): readonly string[] | null {
  if (cell === null) return null;
  if (typeof cell === "string") return ["text", cell];
  if (typeof cell === "object") return ["bytes", Buffer.from(cell).toString("hex")];
  return ["number", String(cell)];
}
