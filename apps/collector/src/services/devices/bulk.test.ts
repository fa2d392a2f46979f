import { type AuditRecord, BulkResult, type Device, type List } from "@lanthorn/contract";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";

let gateway: TestGateway;
let tenant: TestTenant;
beforeEach(async () => {
  gateway = await startTestGateway({ clock: createFakeClock(Date.UTC(2026, 5, 1)) });
  tenant = await gateway.createTenant("admin");
});
afterEach(() => gateway.stop());

const seed = async (count: number, values: object = {}, owner = tenant) => {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(await gateway.createDevice(owner, { ip: `10.0.${Math.floor(index / 250)}.${index % 250}`, device_type: "printer", ...values }));
  }
  return ids;
};
const change = async (body: object, { token } = tenant, headers = {}) => gateway.request("/api/v1/devices/bulk", {
  method: "POST", headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers }, body: JSON.stringify(body),
});
const devices = async (filter: string, { token } = tenant) =>
  (await gateway.get(`/api/v1/devices?per_page=1000&filter=${encodeURIComponent(filter)}`, token)).body as List<Device>;
const audited = async (action: string) =>
  ((await gateway.get(`/api/v1/audit?per_page=1000&action=${action}`, tenant.token)).body as List<AuditRecord>).data;

describe("a bulk change of devices", () => {
  test("is of all that the filter leaves, on all pages, each with its history and audit record", async () => {
    const ids = await seed(450);
    await seed(3, { device_type: "camera" });
    const { total } = (await devices("type:printer")).meta;
    const answer = await change({ filter: "type:printer", expected_count: total, change: { add_tags: ["paper", "lab"], vendor: "HP" } });
    expect([answer.status, BulkResult.parse(answer.body)]).toEqual([200, { matched: 450, changed: 450, unchanged: 0, gone: 0 }]);
    expect((await devices("tag:paper tag:lab vendor:HP")).meta.total).toBe(450);
    expect((await devices("type:camera tag:paper")).meta.total).toBe(0);
    const profile = (await gateway.get(`/api/v1/devices/${ids[449]}`, tenant.token)).body as { locked_fields: string[]; history: object[] };
    expect(profile).toMatchObject({ tags: ["paper", "lab"], vendor: "HP", locked_fields: ["tags", "vendor"] });
    expect(profile.history).toMatchObject([{ source: "person" }, { source: "person" }]);
    expect((await audited("device.update")).length).toBe(450);
    expect(await audited("device.bulk")).toMatchObject([{ target: { type: "device", id: "" }, after: { count: 450, change: { add_tags: ["paper", "lab"], vendor: "HP" } } }]);
  });

  test("lets others have their turn after some devices", async () => {
    await seed(500);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const answer = await change({ filter: "type:printer", expected_count: 500, change: { delete: true } });
    isOver = true;
    expect(answer.status).toBe(200);
    expect(turns).toBeGreaterThanOrEqual(100);
  });

  test("of another number than was expected changes nothing, and says the true one", async () => {
    await seed(5);
    for (const expected of [4, 6, 0]) {
      const answer = await change({ filter: "type:printer", expected_count: expected, change: { add_tags: ["x"] } });
      expect([answer.status, answer.error.code, answer.error.details]).toEqual([409, "CONFLICT", { count: 5, expected_count: expected }]);
    }
    expect([(await devices("tag:x")).meta.total, await audited("device")]).toEqual([0, []]);
  });

  test("that takes devices out of its own filter still is of all of them", async () => {
    await seed(420, { tags: '["old"]' });
    const answer = await change({ filter: "tag:old", expected_count: 420, change: { remove_tags: ["old"] } });
    expect([answer.status, answer.body]).toEqual([200, { matched: 420, changed: 420, unchanged: 0, gone: 0 }]);
    expect((await devices("tag:old")).meta.total).toBe(0);
  });

  test("of some ids is of those, and of nobody else's", async () => {
    const ids = await seed(4);
    const other = await gateway.createTenant("admin");
    const [theirs = ""] = await seed(1, {}, other);
    expect((await change({ ids: [...ids.slice(1), theirs], expected_count: 4, change: { add_tags: ["x"] } })).error.details).toEqual({ count: 3, expected_count: 4 });
    expect((await change({ ids: ids.slice(1), expected_count: 3, change: { add_tags: ["x"] } })).body).toMatchObject({ changed: 3 });
    expect((await change({ ids: ids.slice(1), expected_count: 3, change: { add_tags: ["x"] } })).body).toMatchObject({ changed: 0, unchanged: 3 });
    expect((await change({ filter: "", expected_count: 1, change: { delete: true } }, other)).body).toMatchObject({ changed: 1 });
    expect([(await devices("tag:x")).meta.total, (await devices("", other)).meta.total, (await devices("")).meta.total]).toEqual([3, 0, 4]);
  });

  test("deletes, unlocks, and leaves a device that would have too many tags as it is", async () => {
    const [full = ""] = await seed(1, { tags: JSON.stringify(Array.from({ length: 64 }, (_, index) => `t${index}`)) });
    expect((await change({ ids: [full], expected_count: 1, change: { add_tags: ["one more"] } })).body).toMatchObject({ changed: 0, unchanged: 1 });
    await change({ ids: [full], expected_count: 1, change: { device_type: "camera" } });
    expect((await gateway.get(`/api/v1/devices/${full}`, tenant.token)).body).toMatchObject({ device_type: "camera", locked_fields: ["device_type"] });
    await change({ ids: [full], expected_count: 1, change: { device_type: null } });
    expect((await gateway.get(`/api/v1/devices/${full}`, tenant.token)).body).toMatchObject({ device_type: "unknown", locked_fields: [] });
    await seed(60, { vendor: "HP" });
    expect((await change({ filter: "vendor:HP", expected_count: 60, change: { delete: true } })).body).toMatchObject({ matched: 60, changed: 60 });
    expect([(await devices("")).meta.total, (await audited("device.delete")).length]).toEqual([1, 60]);
  });

  test("is done once for an idempotency key, and one at a time", async () => {
    await seed(3);
    const body = { filter: "type:printer", expected_count: 3, change: { device_type: "camera" } };
    const answers = [await change(body, tenant, { "idempotency-key": "k" }), await change(body, tenant, { "idempotency-key": "k" })];
    expect(answers.map(({ status, body: { changed } }) => [status, changed])).toEqual([[200, 3], [200, 3]]);
    await seed(600);
    const many = await Promise.all(Array.from({ length: 4 }, () => change({ filter: "type:printer", expected_count: 600, change: { add_tags: ["x"] } })));
    const statuses = many.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses[0]).toBe(200);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect((await devices("tag:x")).meta.total).toBe(600);
  });

  test("needs the scope of a single change", async () => {
    await seed(1);
    const viewer = await gateway.createUser(tenant, "viewer");
    const answer = await change({ filter: "", expected_count: 1, change: { delete: true } }, viewer);
    expect([answer.status, answer.error.details]).toEqual([403, { required: "devices:write" }]);
  });

  test.each([
    ["no change", { filter: "", expected_count: 1, change: {} }, "change"],
    ["two changes that exclude each other", { filter: "", expected_count: 1, change: { delete: true, vendor: "x" } }, "change.delete"],
    ["neither filter nor ids", { expected_count: 1, change: { delete: true } }, "filter"],
    ["both", { filter: "", ids: [createId()], expected_count: 1, change: { delete: true } }, "filter"],
    ["no count", { filter: "", change: { delete: true } }, "expected_count"],
    ["more than there may be", { filter: "", expected_count: 10_001, change: { delete: true } }, "expected_count"],
    ["more ids than there may be", { ids: Array.from({ length: 1001 }, createId), expected_count: 1001, change: { delete: true } }, "ids"],
    ["a filter that is none", { filter: "type:toaster", expected_count: 1, change: { delete: true } }, "filter"],
    ["an address", { filter: "", expected_count: 1, change: { ip: "10.0.0.1" } }, "change.ip"],
  ])("with %s is refused", async (_, body, path) => {
    const answer = await change(body);
    expect([answer.status, (answer.error.details as { path: string }[])[0]?.path]).toEqual([400, path]);
  });
});
