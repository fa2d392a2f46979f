import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId, seededRandom } from "@lanthorn/runtime";
import { type Insertable, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressKey } from "../../../db/keys/address-key.ts";
import { hostnameKey } from "../../../db/keys/hostname-key.ts";
import type { Database } from "../../../db/open.ts";
import type { Schema } from "../../../db/schema.ts";
import { insertMany } from "../../../db/query/write-many.ts";
import { isOnPostgres, openTestDatabase } from "../../../testing/database.ts";
import type { DeviceFilter } from "./filters.ts";
import { createMatches } from "./matches.ts";
import { createReadPage, type DeviceRow, type DeviceSortField, SORT_COLUMNS } from "./pages.ts";

const AT = "2026-01-01T00:00:00.000Z";
const [big, small] = [createId(), createId()];
const random = seededRandom(12);
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
const directory = mkdtempSync(join(tmpdir(), "lanthorn-search-"));
let database: Database;

const NAMES = [
  "", "ap", "AP-Lobby", "printer_1", "printer-2", "100%", "50% off", 'say "hi"', "a*b", "NEAR(x, y)", "x AND y", "x or y", "-minus", "^start",
  "col:umn", "Müller", "MÜLLER", "É中文字😀x", "😀😀😀", "😀", "back\\slash", "it's", "'; drop table devices; --", "new\nline", "tab\there",
  "192.168.1", "aa:bb:cc", "x".repeat(255), "straße", "Kelvin \u{212A}", "İstanbul", "e\u{301}clair", "001b21", "h0:1b", "00-1b",
  "camera.example.net", "CAMERA.EXAMPLE.NET",
  // What a file may hold and PostgreSQL may not.
  ...(isOnPostgres() ? [] : ["nul\0inside"]),
];
const TERMS = [
  ...NAMES.filter((name) => name !== "" && !name.includes("\0")), "a", "A", "ap", "-", "--", "%", "_", "%%", "*", "\"", '""', '"""', "'", "\\", "\\\\", ":", "::", ".",
  "..", "...", "(", ")", "()", "a b", " ap ", " ", "AND", "OR", "NOT", "NEAR", "x AND", '" OR "', "hostname:ap", "text:ap", "^ap", "ap*", "ap+", "{ap}", "ü",
  "Ü", "ül", "ÜL", "中", "中文", "中文字", "😀", "😀😀", "😀😀😀", "k", "i̇s", "10", "10.", "10.0", "10.0.0.", "10.0.1.2", "0.1", "168", "192.168", "fd00", "fd00:",
  "fd00::1", "::1", "d0::", "1b", "1b:", "1b:21", "b:21:aa", "01b2", "01:b2", "00:1b:21", "001B.21AA", "00-1b-21", "001b21aa0001", "00:1b:21:aa:00:01",
  "00:1b:21:aa:00:01:", "0001", "aa0", "g", "example", "camera", "no such thing", "xx", "xxx", "x".repeat(200), "x".repeat(254) + "y", "ab".repeat(120),
  "nul", "inside", "e\u{301}", "drop table", "search_index", "\u{FFFD}",
];

/** As a person says it: what is in a name, an address or a MAC, whatever the case of ASCII letters. */
function isHit({ hostname }: DeviceRow, parts: { readonly ips: readonly string[]; readonly macs: readonly string[] }, search: string): boolean {
  const text = search.trim().toLowerCase();
  const lowered = (whole: string) => whole.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  // A text ends with U+0000 to SQLite's LIKE.
  const name = lowered(hostname.split("\0")[0] ?? "");
  if (name.includes(text) || name.includes(lowered(search.trim())) || (/^[\da-f.:]*$/.test(text) && parts.ips.some((ip) => ip.includes(text)))) return true;
  if (/^[\da-f]{0,2}([:-][\da-f]{0,2}){1,6}$/.test(text)) {
    const colons = text.replaceAll("-", ":");
    const digits = colons.replaceAll(":", "");
    return parts.macs.some((mac) => (digits.length === 12 ? mac.replaceAll(":", "") === digits : mac.includes(colons)));
  }
  const digits = text.replaceAll(".", "");
  return /^[\da-f]{1,12}$/.test(digits) && parts.macs.some((mac) => mac.replaceAll(":", "").includes(digits));
}

beforeAll(async () => {
  database = await openTestDatabase(directory);
  for (const tenant of [big, small]) {
    await database.db.insertInto("tenants").values({ id: tenant, name: tenant, created_at: AT }).execute();
    await database.db.insertInto("sites").values({ id: tenant, tenant_id: tenant, name: "s", probe_configuration: "{}", created_at: AT }).execute();
  }
  await database.db.transaction().execute(async (trx) => {
    const rows = [...Array.from({ length: 1300 }, (_, index) => deviceRow(big, index)), ...NAMES.map((_, index) => deviceRow(small, index))];
    await insertMany(trx, "devices", rows);
    await insertMany(trx, "interfaces", rows.map((row) => interfaceRow(row, row.mac)));
    await insertMany(trx, "addresses", rows.map((row) => addressRow(row, row.ip)));
  });
  await rewrite();
});
afterAll(async () => {
  await database.close();
  rmSync(directory, { recursive: true, force: true });
});

function deviceRow(tenant: string, index: number): Insertable<Schema["devices"]> {
  const name = NAMES[index % NAMES.length] as string;
  const hostname = index % 3 === 0 ? `${name.slice(0, 240)}${index}` : name;
  const ip = index % 7 === 0 ? `fd00::${index.toString(16)}` : `10.0.${index >> 8}.${index & 255}`;
  return {
    id: createId(), tenant_id: tenant, site_id: tenant, ip, ip_key: addressKey(ip),
    mac: `00:1b:21:aa:${(index >> 8).toString(16).padStart(2, "0")}:${(index & 255).toString(16).padStart(2, "0")}`,
    hostname, hostname_key: hostnameKey(hostname), vendor: pick(["", "a", "b"]), os_guess: "", device_type: "unknown",
    is_online: index % 2, presence_state: index % 2 ? "online" : "offline", first_seen: AT, last_seen: AT, open_ports: "[]", tags: "[]",
    locked_fields: "[]",
  };
}

const own = ({ id, tenant_id, site_id }: Pick<DeviceRow, "id" | "tenant_id" | "site_id">) => ({ device_id: id, tenant_id, site_id });
const interfaceRow = (row: Parameters<typeof own>[0], mac: string) => ({ ...own(row), mac, vendor: "", first_seen: AT });
const addressRow = (row: Parameters<typeof own>[0], ip: string) =>
  ({ ...own(row), mac: "", ip, ip_key: addressKey(ip), first_seen: AT, last_seen: AT, current: 1 });

const named = (hostname: string) => ({ hostname, hostname_key: hostnameKey(hostname) });

/** Everything that writers do: names change, addresses and MACs come, go and change hands, devices go. */
async function rewrite(): Promise<void> {
  const { db } = database;
  for (const tenant of [big, small]) {
    const all = await db.selectFrom("devices").selectAll().where("tenant_id", "=", tenant).orderBy("mac").execute();
    for (const [index, device] of all.slice(0, 120).entries()) {
      const other = all[Math.max(index - 1, 0)] as DeviceRow;
      const is = (kind: number) => index % 8 === kind;
      if (is(0)) await db.updateTable("devices").set(named(pick(NAMES))).where("id", "=", device.id).execute();
      if (is(1)) await db.insertInto("addresses").values(addressRow(device, `192.168.${index}.1`)).execute();
      if (is(2)) await db.deleteFrom("addresses").where("device_id", "=", device.id).execute();
      if (is(3)) await db.updateTable("addresses").set({ ip: `172.16.0.${index}` }).where("device_id", "=", device.id).execute();
      if (is(4)) await db.updateTable("interfaces").set({ device_id: other.id }).where("device_id", "=", device.id).execute();
      if (is(5)) await db.deleteFrom("devices").where("id", "=", device.id).execute();
      if (is(6)) await db.updateTable("interfaces").set({ mac: `02:00:00:00:${tenant === big ? "00" : "01"}:${(index + 16).toString(16)}` })
        .where("device_id", "=", device.id).execute();
      if (is(7)) await db.updateTable("devices").set({ is_online: 0, presence_state: "offline", hostname: device.hostname }).where("id", "=", device.id).execute();
    }
  }
  const undone = db.transaction().execute(async (trx) => {
    await trx.updateTable("devices").set({ hostname: "undone" }).execute();
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
}

/** The same by the tables alone, in the list's order. */
async function expected(tenant: string, search: string, { field, descending }: { readonly field: DeviceSortField; readonly descending: boolean }) {
  const { devices, ips, macs } = await everything(tenant);
  const hits = devices.filter((row) => isHit(row, { ips: ips.get(row.id) ?? [], macs: macs.get(row.id) ?? [] }, search));
  const column = SORT_COLUMNS[field];
  const isEmptyLast = field === "hostname" || field === "vendor";
  const border = (a: DeviceRow, b: DeviceRow) => (isEmptyLast ? Number(a[column] === "") - Number(b[column] === "") : 0);
  const order = (a: DeviceRow, b: DeviceRow) => Buffer.compare(Buffer.from(a[column]), Buffer.from(b[column])) || (a.id < b.id ? -1 : 1);
  return hits.toSorted((a, b) => border(a, b) || (descending ? order(b, a) : order(a, b))).map(({ id }) => id);
}

const known = new Map<string, ReturnType<typeof readAll>>();
function everything(tenant: string) {
  const read = known.get(tenant) ?? readAll(tenant);
  known.set(tenant, read);
  return read;
}

async function readAll(tenant: string) {
  const devices = await database.reads.selectFrom("devices").selectAll().where("tenant_id", "=", tenant).execute();
  const addresses = await database.reads.selectFrom("addresses").select(["device_id", "ip as text"]).where("tenant_id", "=", tenant).execute();
  const interfaces = await database.reads.selectFrom("interfaces").select(["device_id", "mac as text"]).where("tenant_id", "=", tenant).execute();
  const grouped = (rows: readonly { readonly device_id: string; readonly text: string }[]) => {
    const texts = new Map<string, string[]>();
    for (const { device_id: id, text } of rows) texts.set(id, [...(texts.get(id) ?? []), text]);
    return texts;
  };
  return { devices, ips: grouped(addresses), macs: grouped(interfaces) };
}

const ORDERS = (["ip", "-ip", "hostname", "-hostname", "-last_seen", "vendor", "-vendor"] as const).map((sort) =>
  ({ field: sort.replace("-", "") as DeviceSortField, descending: sort.startsWith("-") }));

describe.each([["looked up", {}], ["listed", { narrowTo: 0 }], ["walked", { narrowTo: 0, listTo: 0 }]] as const)("a search whose hits are %s", (_, limits) => {

  test.each([["a large tenant", big], ["a small one", small]])("finds in %s what a look at every text finds, whatever the text", async (__, tenant) => {
    const page = createReadPage(database.reads, createMatches(database.reads, limits));
    for (const search of TERMS) {
      const order = pick(ORDERS);
      const ids = await expected(tenant, search, order);
      const { rows, total } = await page(tenant, { search }, { ...order, limit: 2000, from: 0 });
      expect([search, order, total, rows.map(({ id }) => id)]).toEqual([search, order, ids.length, ids]);
    }
  });

  test("comes in pages of any order that leave out nothing and repeat nothing", async () => {
    const page = createReadPage(database.reads, createMatches(database.reads, limits));
    for (const search of ["a", "10.0.", "e", "example", "cam", "1b21aa"]) {
      for (const order of ORDERS) {
        const ids = await expected(big, search, order);
        const [byNumber, byCursor]: [string[], string[]] = [[], []];
        for (let from = 0; from < ids.length; from += 170) {
          byNumber.push(...(await page(big, { search }, { ...order, limit: 170, from })).rows.map(({ id }) => id));
        }
        for (let last: DeviceRow | undefined, isEnd = false; !isEnd;) {
          const from = last ? { value: last[SORT_COLUMNS[order.field]], id: last.id } : 0;
          const { rows, total } = await page(big, { search }, { ...order, limit: 170, from });
          byCursor.push(...rows.map(({ id }) => id));
          [last, isEnd] = [rows.at(-1), rows.length < 170];
          expect(total).toBe(ids.length);
        }
        expect([search, order, byNumber, byCursor]).toEqual([search, order, ids, ids]);
        const late = await page(big, { search }, { ...order, limit: 10, from: ids.length + 5 });
        expect([late.rows.length, late.total]).toEqual([0, ids.length]);
      }
    }
  });

  test("goes with every other filter", async () => {
    const page = createReadPage(database.reads, createMatches(database.reads, limits));
    const { devices } = await everything(big);
    const online = new Set(devices.filter((row) => row.is_online === 1).map(({ id }) => id));
    const filters: readonly DeviceFilter[] = [
      { isOnline: true }, { isOnline: true, siteId: { any: [big], none: [] } }, { presenceState: { any: ["online"], none: [] } },
      { presenceState: { any: [], none: ["offline"] }, since: AT },
    ];
    for (const search of ["a", "10.0.", "example", "aa:00", "printer_1", "nothing at all"]) {
      const ids = (await expected(big, search, { field: "ip", descending: false })).filter((id) => online.has(id));
      for (const filter of filters) {
        const { rows, total } = await page(big, { ...filter, search }, { field: "ip", descending: false, limit: 2000, from: 0 });
        expect([search, filter, total, rows.map(({ id }) => id)]).toEqual([search, filter, ids.length, ids]);
      }
    }
  });
});

test("the texts of each device are those of its rows, whatever was written", async () => {
  for (const tenant of [big, small]) {
    const { devices, ips, macs } = await readAll(tenant);
    const texts = await database.reads.selectFrom("device_texts").select(["device_id", "ips", "macs"]).where("tenant_id", "=", tenant)
      .orderBy("device_id").execute();
    const lines = (list: readonly string[] = []) => list.toSorted().join("\n");
    expect(texts).toEqual(devices.map(({ id }) => ({
      device_id: id, ips: lines(ips.get(id)), macs: lines(macs.get(id)?.map((mac) => `${mac.replaceAll(":", "")}\n${mac}`)),
    })).toSorted((a, b) => (a.device_id < b.device_id ? -1 : 1)));
  }
});

test("a tenant's search has an index for itself, so that another's devices are not even passed over", async () => {
  const page = createReadPage(database.reads, createMatches(database.reads, { narrowTo: NAMES.length }));
  // All of the other's have it, and none but the small tenant's count.
  const { total } = await page(small, { search: "00:1b:21" }, { field: "ip", descending: false, limit: 5, from: 0 });
  expect(total).toBe((await expected(small, "00:1b:21", { field: "ip", descending: false })).length);
  if (isOnPostgres()) return;
  const numbers = await sql<{ tenant: string; least: number; greatest: number }>`select tenant_id as tenant, min(number >> 32) as least,
    max(number >> 32) as greatest from device_texts group by tenant_id order by 2`.execute(database.reads);
  expect(numbers.rows.map(({ least, greatest }) => [least, greatest])).toEqual([[1, 1], [2, 2]]);
});
