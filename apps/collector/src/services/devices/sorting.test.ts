import { type Device, Device as DeviceSchema, listEnvelope } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hostnameKey } from "../../db/keys/hostname-key.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";

/** Equal names, names that differ in case, accents and numbers, and many without one. */
const NAMES = ["ap2", "", "AP10", "ap1", "", "Älpha", "alpha", "", "zoo", "zoo", "zoo", "", "Zoo", "ap02", "", "beta", "100", "20", "", ""];
const VENDORS = ["b", "", "a", "B", ""];
const EXPECTED = ["20", "100", "alpha", "alpha", "ap1", "ap2", "ap2", "ap10", "beta", "zoo", "zoo", "zoo", "zoo"];

let gateway: TestGateway;
let tenant: TestTenant;
beforeAll(async () => {
  gateway = await startTestGateway();
  [tenant] = [await gateway.createTenant("operator"), await gateway.createTenant("operator")];
  for (const [index, hostname] of NAMES.entries()) {
    const vendor = VENDORS[index % VENDORS.length] as string;
    await gateway.createDevice(tenant, { ip: `10.0.0.${index}`, hostname, vendor, tags: index < 18 ? '["most"]' : "[]" });
  }
});
afterAll(() => gateway.stop());

const List = listEnvelope(DeviceSchema);
async function list(query: string) {
  const answer = await gateway.get(`/api/v1/devices?${query}`, tenant.token);
  expect(answer.status).toBe(200);
  return List.parse(answer.body);
}

/** As `EXPECTED` spells them. */
const plain = ({ hostname }: Device) => hostname.toLowerCase().replace("ä", "a").replace("ap02", "ap2");

/** All of a list by pages of some rows, by number and by cursor, which agree. */
async function readAll(query: string, perPage: number): Promise<readonly Device[]> {
  const [byNumber, byCursor]: [Device[], Device[]] = [[], []];
  for (let page = 1, isEnd = false; !isEnd; page += 1) {
    const { data } = await list(`${query}&per_page=${perPage}&page=${page}`);
    byNumber.push(...data);
    isEnd = data.length === 0;
  }
  for (let cursor: string | null = ""; cursor !== null;) {
    const { data, meta }: Awaited<ReturnType<typeof list>> = await list(`${query}&per_page=${perPage}${cursor ? `&cursor=${cursor}` : ""}`);
    byCursor.push(...data);
    cursor = meta.next_cursor;
  }
  expect(byCursor.map(({ id }) => id)).toEqual(byNumber.map(({ id }) => id));
  return byNumber;
}

describe.each(["", "&tag=most", "&search=10.0.0.", "&search=0", "&is_online=true", "&since=2000-01-01T00:00:00Z"])("a list with %j", (filter) => {
  test.each([1, 2, 3, 7, 13, 19])("by name has those without one last in both directions, in pages of %i", async (perPage) => {
    const whole = (await list(`sort=ip${filter}`)).data;
    const unnamed = whole.filter(({ hostname }) => hostname === "").map(() => "");
    const up = await readAll(`sort=hostname${filter}`, perPage);
    const down = await readAll(`sort=-hostname${filter}`, perPage);
    expect(up.map(plain)).toEqual([...EXPECTED, ...unnamed]);
    expect(down.map(plain)).toEqual([...EXPECTED.toReversed(), ...unnamed]);
    for (const all of [up, down]) expect(new Set(all.map(({ id }) => id)).size).toBe(whole.length);
  });

  test.each([3, 8])("by vendor has those without one last in both directions, in pages of %i", async (perPage) => {
    for (const sort of ["vendor", "-vendor"]) {
      const vendors = (await readAll(`sort=${sort}${filter}`, perPage)).map(({ vendor }) => vendor);
      const known = vendors.filter((vendor) => vendor !== "");
      const inOrder = known.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
      expect(vendors).toEqual([...(sort === "vendor" ? inOrder : inOrder.toReversed()), ...vendors.filter((vendor) => vendor === "")]);
    }
  });
});

test("a name has its key wherever it is written: by people and in a merge and its undoing", async () => {
  const keys = async () => {
    const rows = await gateway.db.selectFrom("devices").select(["hostname", "hostname_key"]).where("tenant_id", "=", tenant.tenantId).execute();
    expect(rows.filter((row) => row.hostname_key !== hostnameKey(row.hostname))).toEqual([]);
    return rows.length;
  };
  const before = await keys();
  const made = await gateway.call("POST", "/api/v1/devices", tenant.token, { ip: "10.9.0.1", mac: "00:1b:21:00:09:01", hostname: "Möwe 7" });
  const other = await gateway.call("POST", "/api/v1/devices", tenant.token, { ip: "10.9.0.2", mac: "00:1b:21:00:09:02" });
  expect([made.status, other.status, await keys()]).toEqual([201, 201, before + 2]);
  const [id, otherId] = [made, other].map(({ body }) => (body as Device).id) as [string, string];
  expect((await gateway.call("PUT", `/api/v1/devices/${id}`, tenant.token, { hostname: "Möwe 12" })).status).toBe(200);
  await keys();
  const merged = await gateway.call("POST", `/api/v1/devices/${otherId}/merge`, tenant.token, { with: id });
  expect([merged.status, (merged.body as Device).hostname, await keys()]).toEqual([200, "Möwe 12", before + 1]);
  const { merges } = merged.body as { readonly merges: readonly { readonly id: string }[] };
  const undone = await gateway.call("POST", `/api/v1/devices/${otherId}/split`, tenant.token, { merge_id: merges[0]?.id });
  expect([undone.status, await keys()]).toEqual([201, before + 2]);
});
