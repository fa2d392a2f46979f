import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Kysely, Migration } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { testLocation } from "../testing/database.ts";
import { addressKey } from "./keys/address-key.ts";
import { hostnameKey } from "./keys/hostname-key.ts";
import { insertMany } from "./query/write-many.ts";
import { MIGRATIONS } from "./migrations/table.ts";
import { openDatabase } from "./open.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-db-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const AT = "2026-01-01T00:00:00.000Z";
const open = async (migrations: Readonly<Record<string, Migration>> = MIGRATIONS) =>
  openDatabase({ ...(await testLocation(directory, { isBlank: true })), migrations });

describe("the database", () => {
  test("keeps what was committed when it is opened again", async () => {
    const first = await open();
    await first.db.insertInto("tenants").values({ id: "t", name: "t", created_at: AT }).execute();
    await first.close();
    const again = await open();
    expect(await again.reads.selectFrom("tenants").select(["id", "last_event_seq"]).execute()).toEqual([{ id: "t", last_event_seq: 0 }]);
    await again.close();
  });

  test("applies each migration once, in the order of the names", async () => {
    const applied: string[] = [];
    const migration = (name: string) => ({ up: async () => void applied.push(name) });
    const close = async (migrations: Readonly<Record<string, Migration>>) => (await open(migrations)).close();
    await close({ "0002-b": migration("b"), "0001-a": migration("a") });
    await close({ "0001-a": migration("a"), "0002-b": migration("b"), "0003-c": migration("c") });
    expect(applied).toEqual(["a", "b", "c"]);
  });

  test("gives a number to the newer of two user names that differ in case alone", async () => {
    const before = Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name < "0034"));
    const old = await open(before);
    await old.db.insertInto("tenants").values({ id: "t", name: "t", created_at: AT }).execute();
    const user = { tenant_id: "t", password_hash: "", role: "viewer", created_at: AT, tokens_valid_from: AT };
    const rows = ["Jo", "jo", "JO", "jo-2"].map((username, index) => ({ ...user, id: `${index}`, username }));
    await old.db.insertInto("users").values(rows as never).execute();
    await old.close();
    const { reads, close } = await open();
    const found = await reads.selectFrom("users").select(["username", "username_key"]).orderBy("id").execute();
    expect(found.map(({ username }) => username)).toEqual(["Jo", "jo-3", "JO-4", "jo-2"]);
    expect(found.every(({ username, username_key: key }) => key === username.toLowerCase())).toBe(true);
    await close();
  });

  test("sets what a probe had said that it saw in the future to now, and leaves what is past", async () => {
    const old = await open(Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name < "0032")));
    const tables = old.db as unknown as Kysely<Record<string, Record<string, string | number | null>>>;
    const add = (table: string, row: Record<string, string | number | null>) => tables.insertInto(table).values(row).execute();
    const own = { tenant_id: "t", site_id: "s" };
    await add("tenants", { id: "t", name: "t", created_at: AT });
    await add("sites", { id: "s", tenant_id: "t", name: "s", created_at: AT, probe_configuration: "{}" });
    await add("probes", {
      ...own, id: "p", name: "p", enrolled_at: AT, certificate_serial: "", certificate_expires_at: AT, version: "", state: "enrolled",
    });
    const both: readonly (readonly [string, string])[] = [["past", AT], ["future", "9999-12-31T23:59:59.999Z"]];
    for (const [id, at] of both) {
      const part = { device_id: id, tenant_id: "t" };
      const seen = { first_seen: at, last_seen: at };
      await add("devices", {
        ...own, ...seen, id, ip: "", ip_key: "", mac: id, hostname: "", vendor: "", os_guess: "", device_type: "", is_online: 1,
        presence_state: "online", open_ports: "[]", tags: "[]", locked_fields: "[]",
      });
      await add("interfaces", { ...own, device_id: id, mac: id, vendor: "", first_seen: at });
      await add("addresses", { ...own, ...seen, device_id: id, mac: id, ip: "", ip_key: "", current: 1 });
      await add("evidence", { ...part, field: "x", value: "", source: "", confidence: 1, seen_at: at });
      await add("ports", { ...part, port: 1, protocol: "tcp", state: "open", service: "", version: "", banner: "", last_scanned: at });
      await add("device_keys", { ...own, device_id: id, key: "k", source: "", first_seen: at });
      await add("device_changes", { ...part, id, at, field: "ip", before: "", after: "", source: "" });
      await add("neighbors", { ...own, ...seen, probe_id: "p", key: id, data: "{}", current: 1 });
      await add("switch_reports", { ...own, ...seen, probe_id: "p", ip: id, data: "{}", current: 1 });
      await add("alerts", {
        ...own, ...seen, id, device_ip: "", source: "", type: "", subject: "", severity: "low", severity_rank: 1, title: "", description: "",
        status: "open", count: 1, evidence: "[]", mitre_techniques: "[]", notified: 1,
      });
    }
    await old.close();
    const before = new Date().toISOString();
    const { reads, close } = await open();
    const after = new Date().toISOString();
    const healed = reads as unknown as Kysely<Record<string, Record<string, string>>>;
    const moments = {
      devices: ["first_seen", "last_seen"], interfaces: ["first_seen"], addresses: ["first_seen", "last_seen"], evidence: ["seen_at"],
      ports: ["last_scanned"], device_keys: ["first_seen"], device_changes: ["at"], neighbors: ["first_seen", "last_seen"],
      switch_reports: ["first_seen", "last_seen"], alerts: ["first_seen", "last_seen"],
    };
    for (const [table, columns] of Object.entries(moments)) {
      for (const column of columns) {
        const found = (await healed.selectFrom(table).select(column).orderBy(column).execute()).map((row) => row[column] ?? "");
        expect([table, column, found.length, found[0]]).toEqual([table, column, 2, AT]);
        expect((found[1] ?? "") >= before && (found[1] ?? "") <= after).toBe(true);
      }
    }
    await close();
  });

  test("has the texts and keys of devices that were there before it kept any, and of those that come after", async () => {
    const old = await open(Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name < "0039")));
    const tables = old.db as unknown as Kysely<Record<string, Record<string, string | number | null>>>;
    const add = (to: typeof tables, table: string, row: Record<string, string | number | null>) => to.insertInto(table).values(row).execute();
    const device = (id: string, hostname: string) => ({
      id, tenant_id: id, site_id: id, hostname, ip: "", ip_key: "", mac: "", vendor: "", os_guess: "", device_type: "", is_online: 1,
      presence_state: "online", first_seen: AT, last_seen: AT, open_ports: "[]", tags: "[]", locked_fields: "[]",
    });
    for (const id of ["a", "b"]) {
      await add(tables, "tenants", { id, name: id, created_at: AT });
      await add(tables, "sites", { id, tenant_id: id, name: id, created_at: AT, probe_configuration: "{}" });
      await add(tables, "devices", device(id, `Host-${id}`));
      for (const [mac, ip] of [["02:00:00:00:00:0a", "10.0.0.2"], ["02:00:00:00:00:0b", "10.0.0.1"]] as const) {
        await add(tables, "interfaces", { device_id: id, tenant_id: id, site_id: id, mac, vendor: "", first_seen: AT });
        await add(tables, "addresses", {
          device_id: id, tenant_id: id, site_id: id, mac, ip, ip_key: ip, first_seen: AT, last_seen: AT, current: 1,
        });
      }
    }
    await old.close();
    const { db, reads, close } = await open();
    await add(db as unknown as typeof tables, "devices", { ...device("c", "New"), tenant_id: "a", site_id: "a" });
    const both = {
      ips: "10.0.0.1\n10.0.0.2", macs: "02000000000a\n02:00:00:00:00:0a\n02000000000b\n02:00:00:00:00:0b",
    };
    expect(await reads.selectFrom("devices").select("hostname_key").orderBy("id").execute())
      .toEqual(["Host-a", "Host-b", ""].map((name) => ({ hostname_key: hostnameKey(name) })));
    expect(await reads.selectFrom("device_texts").select(["device_id", "hostname", "ips", "macs"]).orderBy("device_id").execute()).toEqual([
      { device_id: "a", hostname: "host-a", ...both }, { device_id: "b", hostname: "host-b", ...both },
      { device_id: "c", hostname: "new", ips: "", macs: "" },
    ]);
    await close();
  });

  test("renames the columns of what was published in a database of an earlier build, and leaves those of a new one", async () => {
    const columnsOf = async ({ reads }: Awaited<ReturnType<typeof open>>) =>
      (await reads.introspection.getTables()).filter(({ name }) => name === "licenses" || name === "ipam_conflicts")
        .map(({ name, columns }) => [name, columns.map((column) => [column.name, column.dataType, column.isNullable])] as const)
        .toSorted(([a], [b]) => a.localeCompare(b));
    const old = await open(Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name < "0042")));
    const expected = await columnsOf(old);
    await old.db.schema.alterTable("licenses").renameColumn("published_state", "earlier").execute();
    await old.db.schema.alterTable("ipam_conflicts").renameColumn("published", "earlier").execute();
    expect(await columnsOf(old)).not.toEqual(expected);
    await old.db.insertInto("tenants").values({ id: "t", name: "t", created_at: AT }).execute();
    const license = { tenant_id: "t", license: "x", earlier: "expired", uploaded_at: AT, uploaded_by: "u" };
    await old.db.insertInto("licenses").values(license as never).execute();
    await old.close();
    const now = await open();
    expect(await columnsOf(now)).toEqual(expected);
    expect(await now.reads.selectFrom("licenses").select("published_state").execute()).toEqual([{ published_state: "expired" }]);
    await now.close();
  });

  test("takes back a migration that fails, and names it", async () => {
    const failing: Migration = { up: async (db) => {
      await db.schema.createTable("half").addColumn("id", "text").execute();
      throw new Error("no");
    } };
    await expect(open({ ...MIGRATIONS, "9999-failing": failing })).rejects.toMatchObject({
      code: "database-unreadable", message: expect.stringContaining("9999-failing") as string,
    });
    const { db, close } = await open();
    expect((await db.introspection.getTables()).map(({ name }) => name)).not.toContain("half");
    await close();
  });

  test("of a newer version stops the start and stays as it is", async () => {
    const later = { ...MIGRATIONS, "9999-later": { up: async () => {} } };
    await (await open(later)).close();
    await expect(open()).rejects.toMatchObject({ code: "database-newer" });
    await (await open(later)).close();
  });

  test("lets readers see what is committed, without waiting for a transaction", async () => {
    const { db, reads, close } = await open();
    const count = async () => (await reads.selectFrom("tenants").select("id").execute()).length;
    await db.transaction().execute(async (trx) => {
      await trx.insertInto("tenants").values({ id: "t", name: "t", created_at: AT }).execute();
      expect(await count()).toBe(0);
    });
    expect(await count()).toBe(1);
    const refusal = { code: "url" in (await testLocation(directory)) ? "25006" : "SQLITE_READONLY" };
    await expect(reads.insertInto("tenants").values({ id: "u", name: "u", created_at: AT }).execute()).rejects.toMatchObject(refusal);
    await close();
  });

  test("sorts texts by their bytes, whatever language it was made for", async () => {
    const { db, reads, close } = await open();
    const names = ["10", "9", "A", "Z", "_", "a", "z", "É", "é", "中", "😀"];
    for (const name of names.toReversed()) await db.insertInto("tenants").values({ id: name, name, created_at: AT }).execute();
    expect((await reads.selectFrom("tenants").select("id").orderBy("name").execute()).map(({ id }) => id)).toEqual(names);
    expect(
      (await reads.selectFrom("tenants").select("id").where("name", ">", "Z").orderBy("name").limit(2).execute()).map(({ id }) => id),
    ).toEqual(["_", "a"]);
    await close();
  });

  test("counts devices as they come, change and go", async () => {
    const { db, reads, close } = await open();
    await db.insertInto("tenants").values({ id: "t", name: "t", created_at: AT }).execute();
    await db.insertInto("sites").values({ id: "s", tenant_id: "t", name: "s", probe_configuration: "{}", created_at: AT }).execute();
    const device = (id: number, isOnline: 0 | 1) => ({
      id: `${id}`, tenant_id: "t", site_id: "s", ip: "", ip_key: "", mac: "", hostname: "", hostname_key: "", vendor: "", os_guess: "", device_type: "",
      is_online: isOnline, presence_state: "", first_seen: AT, last_seen: AT, open_ports: "[]", tags: "[]", locked_fields: "[]",
    });
    const counts = async () => (await reads.selectFrom("device_counts").select(["is_online", "devices"]).orderBy("is_online").execute())
      .map(({ is_online: isOnline, devices }) => [isOnline, devices]);
    await insertMany(db, "devices", [device(1, 1), device(2, 1), device(3, 1), device(4, 0)]);
    expect(await counts()).toEqual([[0, 1], [1, 3]]);
    await db.updateTable("devices").set({ is_online: 0 }).where("id", "in", ["1", "2", "4"]).execute();
    await db.updateTable("devices").set({ hostname: "x" }).execute();
    await db.updateTable("devices").set({ is_online: 1, id: "5" }).where("id", "=", "4").execute();
    expect(await counts()).toEqual([[0, 2], [1, 2]]);
    await db.deleteFrom("devices").where("id", "in", ["1", "3", "5"]).execute();
    expect(await counts()).toEqual([[0, 1], [1, 0]]);
    await close();
  });
});

describe("an address's key", () => {
  test("sorts as the number does, IPv4 before IPv6", () => {
    const ordered = [
      "0.0.0.0", "2.0.0.1", "10.0.0.2", "10.0.0.10", "192.168.1.1", "255.255.255.255", "::", "::1", "2001:db8::1", "2001:db8::10",
      "fe80::1", "ff02::1",
    ];
    expect(ordered.map(addressKey).toSorted()).toEqual(ordered.map(addressKey));
    expect(addressKey("10.0.0.2")).toBe("40a000002");
    expect(addressKey("::1")).toBe(`6${"0".repeat(31)}1`);
  });

  test("takes every spelling of an address, and nothing else", () => {
    expect(addressKey("::ffff:10.0.0.2")).toBe(addressKey("10.0.0.2"));
    expect(addressKey("2001:DB8:0:0::1")).toBe(addressKey("2001:db8::1"));
    expect(addressKey("fe80::1%eth0")).toBe(addressKey("fe80::1"));
    for (const text of ["", "x", "10.0.0", "10.0.0.256", "1.2.3.4.5", ":::", "10.0.0.2/8"]) expect(addressKey(text)).toBe("");
  });
});
