import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { openTestDatabase } from "../../../testing/database.ts";
import { prepareFirstStart } from "./first-start.ts";
import { createPasswords } from "../login/passwords.ts";
import { createAuthStore } from "../store.ts";

describe("the first start", () => {
  test("makes a tenant, a site and an administrator once, and keeps a made password where only its owner reads it", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-first-"));
    const database = await openTestDatabase(dataDir);
    const prepare = (password?: string) =>
      prepareFirstStart({
        store: createAuthStore(database),
        passwords: createPasswords(),
        clock: systemClock,
        dataDir,
        password,
        siteConfiguration: "{}",
      });
    const made = await prepare();
    expect(statSync(join(dataDir, "admin-password")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dataDir, "admin-password"), "utf8")).toBe(`${made?.generated?.password}\n`);
    expect(await prepare("another")).toBeNull();
    const user = await createAuthStore(database).userByName("admin");
    expect(user?.role).toBe("admin");
    expect(await createPasswords().matches(user?.password_hash ?? "", made?.generated?.password ?? "")).toBe(true);
    expect((await database.db.selectFrom("sites").selectAll().execute()).map(({ tenant_id, name }) => [tenant_id, name])).toEqual([
      [user?.tenant_id, "default"],
    ]);
    await database.close();
    rmSync(dataDir, { recursive: true });
  });

  test("takes the password that it is given and writes it nowhere", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-first-"));
    const database = await openTestDatabase(dataDir);
    const made = await prepareFirstStart({
      store: createAuthStore(database),
      passwords: createPasswords(),
      clock: systemClock,
      dataDir,
      password: "given",
      siteConfiguration: "{}",
    });
    expect(made).toEqual({ username: "admin", generated: null });
    expect(() => statSync(join(dataDir, "admin-password"))).toThrow("ENOENT");
    await database.close();
    rmSync(dataDir, { recursive: true });
  });
});
