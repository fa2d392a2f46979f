import { afterEach, describe, expect, test } from "vitest";
import { createNvdSource, nvdPage, type NvdSource } from "./testing/nvd-source.ts";
import { type FeedWorld, startFeedWorld } from "./testing/feed-world.ts";

const DAY_MS = 86_400_000;

const worlds: FeedWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
});

async function start(total: number, settings: object = {}): Promise<FeedWorld & { readonly nvd: NvdSource }> {
  const world = await startFeedWorld({ only: ["nvd"], settings: () => settings });
  worlds.push(world);
  const nvd = createNvdSource(total);
  world.server.serve("/nvd", nvd.handle);
  return { ...world, nvd };
}

const queries = ({ server }: FeedWorld) => server.requests.map(({ path }) => Object.fromEntries(new URL(path, "http://nvd").searchParams));

describe("NVD's API", () => {
  test("is read whole once, six seconds between pages, then what was modified since", async () => {
    const world = await start(4500);
    expect(await world.update()).toBe("completed");
    expect(queries(world).map(({ startIndex }) => startIndex)).toEqual(["0", "2000", "4000"]);
    expect(world.waits).toEqual([6000, 6000]);
    expect(world.consumed).toMatchObject([[{ name: "nvd", isWhole: true, files: [{ name: "page-000000.json.gz" }, {}, {}] }]]);
    expect(await world.row("nvd")).toMatchObject({ records: 4500, configured_share: 0.6 });

    world.clock.jump(DAY_MS);
    world.nvd.modified.push(world.clock.now() - 1000, world.clock.now() - 2000);
    expect(await world.update()).toBe("completed");
    const [, , , window] = queries(world);
    expect(window).toMatchObject({ startIndex: "0", lastModStartDate: "2026-11-19T23:50:00.000Z", lastModEndDate: "2026-11-21T00:00:12.000Z" });
    expect(world.consumed[1]).toMatchObject([{ isWhole: false, files: [{ name: "page-000003.json.gz" }] }]);
    expect([(await world.row("nvd")).records, world.files("nvd")]).toEqual([4500, ["page-000003.json.gz"]]);
  });

  test("is asked with the key as often as that allows, which goes nowhere else", async () => {
    const world = await start(4500, { nvd_api_key: "0123-4567-89ab" });
    world.server.serve("/nvd", (request, response) => {
      if (request.headers["apikey"] === undefined) response.writeHead(403).end();
      else world.nvd.handle(request, response);
    });
    expect([await world.update(), world.waits]).toEqual(["completed", [600, 600]]);
    const other = await start(100);
    world.server.serve("/nvd", (_, response) => void response.writeHead(302, { location: `${other.server.url}/nvd` }).end());
    world.clock.jump(DAY_MS);
    await world.update();
    expect(other.server.requests.map(({ headers }) => headers["apikey"])).toEqual([undefined]);
  });

  test("is read in windows of at most 120 days after a long pause", async () => {
    const world = await start(20);
    await world.update();
    world.clock.jump(300 * DAY_MS);
    world.nvd.modified.push(world.clock.now() - 200 * DAY_MS, world.clock.now() - DAY_MS);
    expect(await world.update()).toBe("completed");
    const windows = queries(world).slice(1).map(({ lastModStartDate: from = "", lastModEndDate: until = "" }) => (Date.parse(until) - Date.parse(from)) / DAY_MS);
    expect([windows.length, Math.max(...windows)]).toEqual([3, 120]);
    expect(world.consumed[1]?.[0]?.files.length).toBe(2);
  });

  test("that stops half-way is gone on with where it was, and nothing is handed over before its end", async () => {
    const world = await start(9000);
    world.server.serve("/nvd", (request, response) => {
      if (world.server.requests.length > 3) response.destroy();
      else world.nvd.handle(request, response);
    });
    expect([await world.update(), world.consumed.length]).toEqual(["failed", 0]);
    world.server.serve("/nvd", world.nvd.handle);
    world.server.requests.splice(0);
    expect([await world.update(), queries(world).map(({ startIndex }) => startIndex)]).toEqual(["completed", ["6000", "8000"]]);
    expect([world.consumed[0]?.[0]?.files.length, (await world.row("nvd")).records]).toEqual([5, 9000]);
  });

  test.each([
    ["another number of records than it says", nvdPage(0, 1500, 4500, 60).replace('"resultsPerPage":1500', '"resultsPerPage":2000')],
    ["no records before its end", nvdPage(0, 0, 4500, 60)],
    ["another place than was asked for", nvdPage(2000, 2000, 4500, 60)],
    ["no numbers", '{"vulnerabilities":[]}'],
    ["a total that cannot be", nvdPage(0, 2000, 90_000_000, 60)],
  ])("with a page of %s fails, and the last good one stays", async (_, page) => {
    const world = await start(4500);
    world.server.serve("/nvd", page);
    expect([await world.update(), (await world.row("nvd")).error_code, world.consumed.length]).toEqual(["failed", "malformed", 0]);
    world.server.serve("/nvd", world.nvd.handle);
    expect([await world.update(), world.consumed.length]).toEqual(["completed", 1]);
  });

  test("with too few CVEs is read anew from its beginning", async () => {
    const world = await start(5);
    expect([await world.update(), (await world.row("nvd")).error_code]).toEqual(["failed", "too-few"]);
    world.nvd.total = 15;
    expect([await world.update(), world.consumed[0]?.[0]?.files.length, (await world.row("nvd")).records]).toEqual(["completed", 1, 15]);
  });

  test("keeps its pages until they are imported", async () => {
    const world = await start(20);
    world.consume(() => Promise.reject(new Error("the disk is full")));
    expect([await world.update(), (await world.row("nvd")).error]).toEqual(["failed", "import: the disk is full"]);
    world.clock.jump(DAY_MS);
    world.nvd.modified.push(world.clock.now() - 1000);
    world.consume(() => Promise.resolve([]));
    expect(await world.update()).toBe("completed");
    expect(world.consumed[1]).toMatchObject([{ isWhole: true, files: [{ name: "page-000000.json.gz" }, { name: "page-000001.json.gz" }] }]);
    expect(await world.row("nvd")).toMatchObject({ is_pending: 0, failures: 0, error: null });
  });
});

test("parts that each lose few configurations are noticed by what the database has lost in all", async () => {
  const world = await start(4500);
  const alerts = async () => ((await world.call("GET", "/api/v1/alerts?source=health")).body as { readonly data: readonly { readonly status: string; readonly description: string }[] }).data;
  const look = async (configured: number) => {
    world.loseConfigurations(configured);
    world.nvd.modified.push(world.clock.now() - 1000);
    expect(await world.update()).toBe("completed");
    await world.feeds.checkHealth();
    world.clock.jump(3_600_000);
    return (await alerts()).map(({ status }) => status);
  };
  expect(await look(1000)).toEqual([]);
  expect([await look(998), await look(995)]).toEqual([[], []]);
  expect(await look(985)).toEqual(["open"]);
  expect((await alerts())[0]?.description).toContain("985 of its records say where they apply, and 1000 did");
  expect(await look(999)).toEqual(["resolved"]);
});
