import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isOnPostgres, openTestDatabase } from "../../testing/database.ts";
import type { Database } from "../open.ts";
import type { Schema } from "../schema.ts";
import { commitUnflushed } from "./unflushed.ts";

const AT = "2026-01-01T00:00:00.000Z";
const [FLUSHED, UNFLUSHED] = isOnPostgres() ? ["on", "off"] : ["2", "1"];

let directory = "";
let database: Database;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-unflushed-"));
  database = await openTestDatabase(directory);
});
afterEach(async () => {
  await database.close();
  rmSync(directory, { recursive: true });
});

/** How commits of this connection treat the disk. */
async function flushing(db: Kysely<Schema>): Promise<string> {
  const { rows: [row] } = isOnPostgres()
    ? await sql<{ value: string }>`select current_setting('synchronous_commit') as value`.execute(db)
    : await sql<{ value: number }>`select synchronous as value from pragma_synchronous`.execute(db);
  return String(row?.value);
}

const add = (db: Kysely<Schema>, id: string) => db.insertInto("tenants").values({ id, name: id, created_at: AT }).execute();
const tenants = async () => (await database.reads.selectFrom("tenants").select("id").orderBy("id").execute()).map(({ id }) => id);

test("commits without the disk, each time, and what follows waits for it again", async () => {
  for (const id of ["a", "b"]) {
    const within = await commitUnflushed(database.db, async (trx) => {
      await add(trx, id);
      return flushing(trx);
    });
    expect([within, await flushing(database.db)]).toEqual([UNFLUSHED, FLUSHED]);
  }
  expect(await tenants()).toEqual(["a", "b"]);
});

test("undoes what fails, and what follows waits for the disk again", async () => {
  await expect(commitUnflushed(database.db, async (trx) => {
    await add(trx, "a");
    throw new Error("no");
  })).rejects.toThrow("no");
  expect([await flushing(database.db), await tenants()]).toEqual([FLUSHED, []]);
});

test("ordinary transactions that wait for the connection meanwhile are flushed", async () => {
  const seen = await Promise.all(["a", "b", "c", "d"].map((id, at) => {
    const work = async (trx: Kysely<Schema>) => {
      await add(trx, id);
      await new Promise((resolve) => setImmediate(resolve));
      return flushing(trx);
    };
    return at % 2 === 0 ? commitUnflushed(database.db, work) : database.db.transaction().execute(work);
  }));
  expect(seen).toEqual([UNFLUSHED, FLUSHED, UNFLUSHED, FLUSHED]);
  expect(await tenants()).toEqual(["a", "b", "c", "d"]);
});
