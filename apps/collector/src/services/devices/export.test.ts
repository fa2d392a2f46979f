import { createId } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insertMany } from "../../db/query/write-many.ts";
import { parseCsv } from "../../testing/csv.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";

let gateway: TestGateway;
let tenant: TestTenant;
beforeAll(async () => {
  gateway = await startTestGateway();
  tenant = await gateway.createTenant("viewer");
});
afterAll(() => gateway.stop());

const download = (query = "", token = tenant.token) =>
  fetch(`${gateway.url}/api/v1/devices/export${query}`, { headers: { authorization: `Bearer ${token}` } });

describe("the export", () => {
  test("is CSV to be kept as a file, one line for each device in the list's order", async () => {
    const one = await gateway.createTenant("viewer");
    const id = await gateway.createDevice(one,
      { ip: "10.0.0.10", hostname: "b", tags: '["core","x"]', open_ports: "[22,443]", last_seen: "2026-01-01T00:00:00.000Z",
        first_seen: "2026-01-01T00:00:00.000Z" });
    await gateway.createDevice(one, { ip: "10.0.0.9", hostname: "a" });
    const answer = await download("?sort=ip", one.token);
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("content-disposition")])
      .toEqual([200, "text/csv; charset=utf-8; header=present", 'attachment; filename="devices.csv"']);
    const rows = parseCsv(await answer.text());
    expect(rows[0]).toEqual(["id", "ip", "mac", "hostname", "vendor", "os_guess", "device_type", "is_online", "presence_state",
      "first_seen", "last_seen", "site_id", "open_ports", "tags"]);
    expect(rows.map((row) => row[1])).toEqual(["ip", "10.0.0.9", "10.0.0.10"]);
    expect(rows[2]).toEqual([id, "10.0.0.10", "", "b", "", "", "unknown", "true", "online", "2026-01-01T00:00:00.000Z",
      "2026-01-01T00:00:00.000Z", one.siteId, "22 443", "core;x"]);
  });

  test("lets no cell be a formula, whatever a host calls itself, and changes nothing else", async () => {
    const hostile = [
      "=1+1", "=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(A1)", "  =1", "\t=1", "\u00a0=1", "＝1", "－1", '=HYPERLINK("http://x","y")', "\rx",
      "\nx", "\tx",
    ];
    const harmless = ["a,b", 'a"b', "a\r\nb", "", "host-1", "1-2", "a=b", "O'Neill", "mail@host", " spaced ", "ünï", "'quoted"];
    const all = [...hostile, ...harmless];
    const crowd = await gateway.createTenant("viewer");
    for (const [index, hostname] of all.entries()) await gateway.createDevice(crowd,
      { ip: `10.0.1.${index}`, hostname, tags: JSON.stringify([hostname]) });
    const rows = parseCsv(await (await download("", crowd.token)).text()).slice(1);
    expect(rows.map((row) => row.length)).toEqual(all.map(() => 14));
    expect(rows.map((row) => row[3])).toEqual([...hostile.map((text) => `'${text}`), ...harmless]);
    expect(rows.map((row) => row[13])).toEqual([...hostile.map((text) => `'${text}`), ...harmless]);
  });

  test("holds what the same filters show in the list, and no other tenant's", async () => {
    const [mine, theirs] = [await gateway.createTenant("viewer"), await gateway.createTenant("viewer")];
    await gateway.createDevice(mine, { ip: "10.0.0.1", hostname: "printer", tags: '["core"]' });
    await gateway.createDevice(mine, { ip: "10.0.0.2", hostname: "camera", is_online: 0 });
    await gateway.createDevice(theirs, { ip: "10.0.0.3", hostname: "printer" });
    const hosts = async (query: string) => parseCsv(await (await download(query, mine.token)).text()).slice(1).map((row) => row[3]);
    expect(await hosts("")).toEqual(["printer", "camera"]);
    expect(await hosts("?sort=-ip")).toEqual(["camera", "printer"]);
    expect(await hosts("?is_online=false")).toEqual(["camera"]);
    expect(await hosts("?tag=core")).toEqual(["printer"]);
    expect(await hosts("?search=nothing")).toEqual([]);
    expect((await download(`?site_id=${createId()}`, mine.token)).status).toBe(404);
    expect((await download("?sort=x", mine.token)).status).toBe(400);
    expect((await download("", "x")).status).toBe(401);
  });

  test("of thousands of devices is read page by page while they change, none left out and none twice", async () => {
    const crowd = await gateway.createTenant("viewer");
    const { id: _, ...first } = await gateway.db.selectFrom("devices").selectAll()
      .where("id", "=", await gateway.createDevice(crowd, { ip: "10.0.0.1" })).executeTakeFirstOrThrow();
    const rows = Array.from({ length: 1700 }, (__, index) => ({ ...first, id: createId(), vendor: `v${index % 3}` }));
    await gateway.db.transaction().execute((trx) => insertMany(trx, "devices", rows));
    const reader = (await download("?sort=vendor", crowd.token)).body?.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (let count = 0; ; count += 1) {
      const part = await reader?.read();
      if (!part || part.done) break;
      text += decoder.decode(part.value, { stream: true });
      if (count < 3) await gateway.createDevice(crowd, { ip: `10.200.0.${count}`, vendor: `v${count}`, hostname: "new" });
    }
    const ids = parseCsv(text).slice(1).map((row) => row[0]);
    const seen = new Set(ids);
    expect(seen.size).toBe(ids.length);
    expect(rows.filter(({ id }) => !seen.has(id))).toEqual([]);
  });

  test("that nobody reads to its end reads no further", async () => {
    const reader = (await download()).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect((await gateway.get("/api/health")).status).toBe(200);
  });
});
