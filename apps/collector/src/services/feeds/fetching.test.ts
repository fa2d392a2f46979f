import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import type { FeedServer } from "./testing/feed-server.ts";
import { type FeedWorld, kev, startFeedWorld } from "./testing/feed-world.ts";

const worlds: FeedWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
});

async function start(options: Parameters<typeof startFeedWorld>[0] = {}): Promise<FeedWorld> {
  const world = await startFeedWorld(options);
  worlds.push(world);
  return world;
}

const lastConsumed = ({ consumed }: FeedWorld) => readFileSync(consumed.at(-1)?.[0]?.files[0]?.path ?? "", "utf8");

/** A world whose last good catalog has 100 records. */
async function startWell(): Promise<FeedWorld> {
  const world = await start();
  world.server.serve("/kev.json", kev(100));
  expect(await world.update()).toBe("completed");
  return world;
}

describe("a feed of one file", () => {
  test("is fetched, handed over, and not fetched again while its source says that nothing is new", async () => {
    const world = await start();
    world.server.serve("/kev.json", (request, response) => {
      if (request.headers["if-none-match"] === '"one"') response.writeHead(304).end();
      else response.writeHead(200, { etag: '"one"', "last-modified": "Fri, 20 Nov 2026 00:00:00 GMT" }).end(kev(20));
    });
    expect([await world.update(), await world.update()]).toEqual(["completed", "completed"]);
    expect(world.consumed).toMatchObject([[{ name: "kev", format: "kev", isWhole: true, files: [{ name: "kev.json", packing: "none" }] }]]);
    expect(world.server.requests.map(({ headers }) => headers["if-modified-since"])).toEqual([undefined, "Fri, 20 Nov 2026 00:00:00 GMT"]);
    expect(await world.row("kev")).toMatchObject({ records: 20, failures: 0, is_pending: 0 });
    expect(world.files("kev")).toEqual(["kev.json"]);
  });

  test("is fetched anew where its file is gone", async () => {
    const world = await start();
    world.server.serve("/kev.json", (request, response) => {
      if (request.headers["if-none-match"] === undefined) response.writeHead(200, { etag: '"one"' }).end(kev(20));
      else response.writeHead(304).end();
    });
    await world.update();
    rmSync(world.consumed[0]?.[0]?.files[0]?.path ?? "");
    expect(await world.update()).toBe("completed");
    expect(world.consumed.length).toBe(2);
  });

  test("that its server packs is taken packed", async () => {
    const world = await start();
    world.server.serve("/kev.json", (_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(kev(20))));
    expect(await world.update()).toBe("completed");
    expect(world.consumed[0]?.[0]?.files).toMatchObject([{ name: "kev.json.gz", packing: "gzip" }]);
    expect(await world.row("kev")).toMatchObject({ records: 20 });
  });

  test("goes on after a break where that was, or begins again where its server cannot", async () => {
    for (const canResume of [true, false]) {
      const world = await start();
      const body = kev(1000);
      world.server.serve("/kev.json", (request, response) => {
        const from = /^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1];
        if (world.server.requests.length === 1) {
          response.writeHead(200, { etag: '"one"', "content-length": body.length });
          response.write(body.slice(0, 5000));
          // What has not been read when a connection breaks is lost with it.
          const part = join(world.directory, "kev", "new-kev.json.part");
          const breakOff = async () => {
            await expect.poll(() => statSync(part, { throwIfNoEntry: false })?.size).toBe(5000);
            response.destroy();
          };
          void breakOff();
        } else if (from !== undefined && canResume) {
          response.writeHead(206, { etag: '"one"', "content-range": `bytes ${from}-${body.length - 1}/${body.length}` }).end(body.slice(Number(from)));
        } else response.writeHead(200, { etag: '"two"' }).end(body);
      });
      expect(await world.update()).toBe("completed");
      expect([lastConsumed(world), world.server.requests[1]?.headers["if-range"]]).toEqual([body, '"one"']);
    }
  });

  test("that breaks off without a tag is asked for again, some times", async () => {
    const world = await startWell();
    world.server.serve("/kev.json", (_, response) => {
      response.writeHead(200, { "content-length": "100000" });
      response.write("x".repeat(500), () => response.destroy());
    });
    expect([await world.update(), (await world.row("kev")).error_code, world.server.requests.length]).toEqual(["failed", "truncated", 5]);
    expect(world.waits).toEqual([1000, 2000, 4000]);
    expect(world.files("kev")).toEqual(["kev.json"]);
  });
});

type Misbehavior = readonly [words: string, code: string, serve: (server: FeedServer) => void];

const MISBEHAVIOR: readonly Misbehavior[] = [
  ["has no records", "too-few", (server) => server.serve("/kev.json", kev(0))],
  ["has half of its records", "shrunken", (server) => server.serve("/kev.json", kev(50))],
  ["is empty", "malformed", (server) => server.serve("/kev.json", "")],
  ["ends in the middle, and says that it is whole", "truncated", (server) => server.serve("/kev.json", kev(100).slice(0, -500))],
  ["is a page of HTML", "truncated", (server) => server.serve("/kev.json", "<html>Please log in</html>")],
  ["sends less than it says", "truncated", (server) => server.serve("/kev.json", (_, response) => {
    response.writeHead(200, { "content-length": "99999" });
    response.write(kev(100), () => response.destroy());
  })],
  ["says that it is larger than it may be", "too-large", (server) => server.serve("/kev.json", (_, response) => {
    response.writeHead(200, { "content-length": "99999999" }).write("{");
  })],
  ["never ends", "too-large", (server) => server.serve("/kev.json", (_, response) => {
    const more = () => {
      if (!response.destroyed) response.write("x".repeat(65_536), () => setImmediate(more));
    };
    more();
  })],
  ["redirects in a circle", "redirects", (server) => server.serve("/kev.json", (_, response) => void response.writeHead(302, { location: "/kev.json" }).end())],
  ["redirects to this machine", "refused", (server) => server.serve("/kev.json", (_, response) =>
    void response.writeHead(302, { location: "http://127.0.0.2/" }).end())],
  ["redirects to what is no URL", "redirects", (server) => server.serve("/kev.json", (_, response) => void response.writeHead(302, { location: "http://[" }).end())],
  ["redirects to a file", "refused", (server) => server.serve("/kev.json", (_, response) => void response.writeHead(302, { location: "file:///etc/passwd" }).end())],
  ["is a bomb", "bomb", (server) => server.serve("/kev.json", (_, response) =>
    void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(4_000_000))))],
  ["is no gzip", "malformed", (server) => server.serve("/kev.json", (_, response) =>
    void response.writeHead(200, { "content-encoding": "gzip" }).end(randomBytes(5000)))],
  ["is half a gzip", "truncated", (server) => server.serve("/kev.json", (_, response) =>
    void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(kev(100)).subarray(0, 100)))],
  ["is not there", "status", (server) => server.serve("/kev.json", (_, response) => void response.writeHead(404).end())],
  ["says that nothing is new without being asked", "status", (server) => server.serve("/kev.json", (_, response) => void response.writeHead(304).end())],
  ["has closed its server", "unreachable", (server) => server.serve("/kev.json", (request) => void request.socket.destroy())],
];

test.each(MISBEHAVIOR)("a feed that %s leaves the last good one", async (_, code, serve) => {
  const world = await startWell();
  serve(world.server);
  expect([await world.update(), (await world.row("kev")).error_code]).toEqual(["failed", code]);
  expect([world.consumed.length, lastConsumed(world), world.files("kev")]).toEqual([1, kev(100), expect.arrayContaining(["kev.json"])]);
  expect(await world.row("kev")).toMatchObject({ records: 100, failures: 1 });
  // What was downloaded and refused is gone too, or replaced by the next one.
  world.server.serve("/kev.json", kev(101));
  expect([await world.update(), lastConsumed(world), world.files("kev")]).toEqual(["completed", kev(101), ["kev.json"]]);
});

describe("a source that is asked too often", () => {
  test("is left alone as long as it says, also by who starts an update by hand", async () => {
    for (const status of [403, 429, 503]) {
      const world = await start();
      world.server.serve("/kev.json", (_, response) => void response.writeHead(status, { "retry-after": "3600" }).end());
      expect([await world.update(), world.server.requests.length]).toEqual(["failed", 1]);
      expect(await world.row("kev")).toMatchObject({ error_code: "rate-limited", not_before: "2026-11-20T01:00:00.000Z" });
      expect([await world.update(), world.server.requests.length]).toEqual(["completed", 1]);
      world.server.serve("/kev.json", kev(20));
      world.clock.jump(3_600_000);
      expect([await world.update(), world.server.requests.length, world.consumed.length]).toEqual(["completed", 2, 1]);
    }
  });

  test("is waited for where it says that soon, and with longer waits where it says nothing", async () => {
    const world = await start();
    world.server.serve("/kev.json", (_, response) => {
      if (world.server.requests.length === 1) response.writeHead(503, { "retry-after": "7" }).end();
      else if (world.server.requests.length < 4) response.writeHead(429).end();
      else response.end(kev(20));
    });
    expect([await world.update(), world.waits]).toEqual(["completed", [7000, 2000, 4000]]);
  });
});

describe("a mirror", () => {
  test("in the folder of feeds keeps its files, also those that are refused", async () => {
    const directory = mkdtempSync(join(tmpdir(), "lanthorn-mirror-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    mkdirSync(join(directory, "kev"));
    writeFileSync(join(directory, "kev", "kev.json"), kev(3));
    const world = await start({ settings: () => ({ directory, mirror: directory, sources: {} }) });
    expect([await world.update(), (await world.row("kev")).error_code]).toEqual(["failed", "too-few"]);
    expect(readdirSync(join(directory, "kev"))).toEqual(["kev.json"]);
  });

  const mirrored = (server: FeedServer) => ({ mirror: `${server.url}/mirror/`, sources: {} });

  test("has every feed under its file's name, and its sum counts", async () => {
    const world = await start({ settings: mirrored });
    world.server.serve("/mirror/kev.json", kev(20));
    world.server.serve("/mirror/kev.json.sha256", `${"0".repeat(64)}  kev.json\n`);
    expect([await world.update(), (await world.row("kev")).error_code, world.consumed.length]).toEqual(["failed", "wrong-sum", 0]);
    world.server.serve("/mirror/kev.json.sha256", `${createHash("sha256").update(kev(20)).digest("hex")}  kev.json\n`);
    expect([await world.update(), world.consumed.length]).toEqual(["completed", 1]);
  });

  test("of NVD has a file a year, with the sum of its text", async () => {
    const world = await start({ only: ["nvd"], settings: mirrored });
    const text = JSON.stringify({ vulnerabilities: [{ cve: { id: "CVE-2026-1", sourceIdentifier: "x", configurations: [] } }] });
    const sum = createHash("sha256").update(text).digest("hex");
    for (let year = 2002; year <= 2025; year += 1) {
      world.server.serve(`/mirror/nvdcve-2.0-${year}.json.gz`, gzipSync(text));
      world.server.serve(`/mirror/nvdcve-2.0-${year}.meta`, `lastModifiedDate:2026-11-20T00:00:00-05:00\r\nsize:1\r\nsha256:${sum.toUpperCase()}\r\n`);
    }
    expect([await world.update(), world.consumed[0]?.[0]?.files.length]).toEqual(["completed", 24]);
    expect(await world.row("nvd")).toMatchObject({ records: 24, configured_share: 1 });
    world.server.serve("/mirror/nvdcve-2.0-2010.meta", `sha256:${"0".repeat(64)}`);
    expect([await world.update(), (await world.row("nvd")).error_code, world.consumed.length]).toEqual(["failed", "wrong-sum", 1]);
  });
});
