import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { openTestDatabase } from "../../testing/database.ts";

test("the write-ahead log is folded into the file while the collector runs, and whole when it ends", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-checkpoints-"));
  const size = () => statSync(join(folder, "lanthorn.db")).size;
  try {
    const { db, close } = await openTestDatabase(folder);
    const before = size();
    const write = async (count: number) => {
      for (let row = 0; row < count; row += 1) await db.insertInto("tenants").values({ id: `${Math.random()}`, name: "x".repeat(3000), created_at: "" }).execute();
    };
    await write(1000);
    await expect.poll(size, { timeout: 30_000 }).toBeGreaterThan(before);
    await write(10);
    await close();
    expect(size()).toBeGreaterThan(before + 1010 * 3000);
    const again = await openTestDatabase(folder);
    expect((await sql<{ count: number }>`select count(*) as count from tenants`.execute(again.reads)).rows).toEqual([{ count: 1010 }]);
    await again.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
