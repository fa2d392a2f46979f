import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EXPORT_ROWS } from "../../gateway/csv/csv.ts";
import { parseCsv } from "../../testing/csv.ts";
import { type AlertsBench, createAlertsBench, ids, rogue } from "./testing/bench.ts";

let bench: AlertsBench;
beforeEach(async () => void (bench = await createAlertsBench()));
afterEach(() => bench.server.stop());

async function download(query = "", token = bench.tenant.token): Promise<Response> {
  return fetch(`${bench.server.url}/api/v1/alerts/export${query}`, { headers: { authorization: `Bearer ${token}` } });
}
const rowsOf = async (query = "") => parseCsv(await (await download(query)).text());

describe("the export of alerts", () => {
  test("is CSV to be kept as a file, in the list's order, with its filters", async () => {
    await bench.append([rogue(), ids({ source_ip: "192.0.2.9", signature: "=cmd|' /C calc'!A0" })]);
    const answer = await download();
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("content-disposition")])
      .toEqual([200, "text/csv; charset=utf-8; header=present", 'attachment; filename="alerts.csv"']);
    const [header = [], ...rows] = parseCsv(await answer.text());
    const { data } = await bench.list();
    const column = (name: string) => rows.map((row) => row[header.indexOf(name)]);
    expect(column("id")).toEqual(data.map(({ id }) => id));
    expect(column("severity")).toEqual(data.map(({ severity }) => severity));
    expect(new Set(column("mitre_techniques"))).toEqual(new Set(["T1046", "T1557.003"]));
    expect(rows.flat().filter((cell) => /^\s*=/.test(cell))).toEqual([]);
    expect((await rowsOf("?source=rogue&sort=-severity")).length).toBe(2);
    expect((await rowsOf("?search=nothing")).length).toBe(1);
  });

  test("goes through all pages without a gap or a repeat", async () => {
    const [row] = await bench.append([rogue()]).then(() => bench.server.db.selectFrom("alerts").selectAll().execute());
    if (!row) throw new Error("no alert");
    for (let index = 0; index < EXPORT_ROWS + 7; index += 1) {
      await bench.server.db.insertInto("alerts").values({ ...row, id: createId(), open_key: null, severity_rank: index % 3 }).execute();
    }
    const found = (await rowsOf("?sort=-severity")).slice(1).map(([id]) => id);
    expect([found.length, new Set(found).size]).toEqual([EXPORT_ROWS + 8, EXPORT_ROWS + 8]);
  });

  test("is of no other tenant, and not for who may not read alerts", async () => {
    await bench.append([rogue()]);
    const other = await bench.server.createTenant("viewer");
    expect(parseCsv(await (await download("", other.token)).text()).length).toBe(1);
    expect((await download("", "nobody")).status).toBe(401);
    expect((await download(`?site_id=${createId()}`)).status).toBe(404);
  });
});
