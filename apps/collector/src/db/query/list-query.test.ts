import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestDatabase } from "../../testing/database.ts";
import { listQuery } from "./list-query.ts";
import type { Database } from "../open.ts";
import { among } from "./select-in.ts";
import { insertMany } from "./write-many.ts";

const AT = "2026-01-01T00:00:00.000Z";
const COUNT = 700;
let folder: string;
let database: Database;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-list-query-"));
  database = await openTestDatabase(folder);
  await insertMany(database.db, "revoked_tokens", Array.from({ length: COUNT }, (_, index) => (
    { jti: `${index}`, tenant_id: `t${index % 2}`, expires_at: AT }
  )));
});
afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

test("reads what a list of any length names, beside the constants of the query", async () => {
  let builds = 0;
  const tokens = listQuery((db, list: readonly string[]) => {
    builds += 1;
    return db.selectFrom("revoked_tokens").select("jti").where("tenant_id", "=", "t0").where("jti", "in", list).where("expires_at", "=", AT);
  });
  const read = async (values: readonly string[]) => (await tokens(database.reads, values)).map(({ jti }) => Number(jti)).toSorted((a, b) => a - b);
  for (const count of [0, 1, 2, 9, 513, COUNT]) {
    const numbers = Array.from({ length: count }, (_, index) => index);
    expect(await read(numbers.map(String))).toEqual(numbers.filter((number) => number % 2 === 0));
  }
  const before = builds;
  expect(await read(["4", "5", "\u{10ffff}list 0", "none"])).toEqual([4]);
  expect(await read(["6"])).toEqual([6]);
  expect(builds).toBe(before);
});

test("reads what a list of tuples names, each with its own parts", async () => {
  const tokens = listQuery((db, list: readonly (readonly [tenantId: string, jti: string])[]) =>
    db.selectFrom("revoked_tokens").select(["tenant_id", "jti"]).where(among(["tenant_id", "jti"], list)));
  for (const [first, second] of [["10", "11"], ["12", "13"]] as const) {
    const rows = await tokens(database.reads, [["t0", first], ["t1", second], ["t1", first], ["t0", second]]);
    expect(rows.map((row) => `${row.tenant_id} ${row.jti}`).toSorted()).toEqual([`t0 ${first}`, `t1 ${second}`]);
  }
});
