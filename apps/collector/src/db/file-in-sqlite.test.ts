import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isFull } from "./faults.ts";
import { openDatabase } from "./open.ts";

let directory = "";
let file = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-db-"));
  file = join(directory, "lanthorn.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const AT = "2026-01-01T00:00:00.000Z";

describe("a database file", () => {
  test("is made for its owner only, and safe against power loss", async () => {
    const { db, close } = await openDatabase({ file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await sql<{ synchronous: number }>`pragma synchronous`.execute(db)).rows).toEqual([{ synchronous: 2 }]);
    expect((await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(db)).rows).toEqual([{ foreign_keys: 1 }]);
    await close();
  });

  test("that is none stops the start, naming the file", async () => {
    writeFileSync(file, "something else".repeat(1000));
    await expect(openDatabase({ file })).rejects.toMatchObject({
      code: "database-unreadable", message: expect.stringContaining(file) as string,
    });
    await expect(openDatabase({ file: join(directory, "no", "such") })).rejects.toMatchObject({ code: "database-unreadable" });
  });

  test("that has no room for what is written says so itself, and takes what comes when there is room again", async () => {
    const { db, close } = await openDatabase({ file });
    const { rows: [pages] } = await sql<{ page_count: number }>`pragma page_count`.execute(db);
    await sql`pragma max_page_count = ${sql.lit(pages?.page_count ?? 0)}`.execute(db);
    const add = (id: string, name: string) =>
      db.transaction().execute((trx) => trx.insertInto("tenants").values({ id, name, created_at: AT }).execute());
    const refused = await add("full", "x".repeat(1_000_000)).catch((error: unknown) => error);
    expect([(refused as { readonly code?: unknown }).code, isFull(refused)]).toEqual(["SQLITE_FULL", true]);
    await sql`pragma max_page_count = 1000000`.execute(db);
    await add("later", "x".repeat(1_000_000));
    expect((await db.selectFrom("tenants").select("id").execute()).map(({ id }) => id)).toEqual(["later"]);
    await close();
  });

  test("keeps two transactions apart though their statements take turns", async () => {
    const { db, close } = await openDatabase({ file });
    await db.insertInto("tenants").values({ id: "t", name: "t", created_at: AT }).execute();
    const add = () => db.transaction().execute(async (trx) => {
      const { last_event_seq: seq } = await trx.selectFrom("tenants").select("last_event_seq").where("id", "=", "t")
        .executeTakeFirstOrThrow();
      await new Promise((resolve) => setImmediate(resolve));
      await trx.updateTable("tenants").set({ last_event_seq: seq + 1 }).where("id", "=", "t").execute();
    });
    await Promise.all(Array.from({ length: 20 }, add));
    expect(await db.selectFrom("tenants").select("last_event_seq").executeTakeFirst()).toEqual({ last_event_seq: 20 });
    await close();
  });

  test("of the release before columns got other names ends as a new one does, with its rows", async () => {
    const old = new Sqlite(file);
    old.exec(readFileSync(new URL("./testing/released-0041.sql", import.meta.url), "utf8"));
    old.close();
    const { reads, close } = await openDatabase({ file });
    expect(await reads.selectFrom("licenses").selectAll().execute()).toEqual([
      { tenant_id: "t", license: "x", published_state: "expired", uploaded_at: AT, uploaded_by: "u" },
    ]);
    expect(await reads.selectFrom("ipam_conflicts").selectAll().execute()).toEqual([
      { tenant_id: "t", site_id: "s", ip_key: "40a000001", kinds: "mac", published: 1 },
    ]);
    await close();
    const fresh = join(directory, "new.db");
    await (await openDatabase({ file: fresh })).close();
    const schemaOf = (path: string) => {
      const database = new Sqlite(path, { readonly: true });
      const rows = database.prepare("select type, name, tbl_name, sql from sqlite_schema order by type, name").all();
      database.close();
      return rows;
    };
    expect(schemaOf(file).length).toBeGreaterThan(100);
    expect(schemaOf(file)).toEqual(schemaOf(fresh));
  });
});
