import { mkdtempSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { openCountryTable, TABLE_FILE } from "@lanthorn/anomaly";
import { createFakeClock, nextTurn, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FEEDS } from "../../feeds/table.ts";
import { type FeedWorld, startFeedWorld } from "../../feeds/testing/feed-world.ts";
import { type CountriesTaker, createCountriesTaker } from "./take-countries.ts";

/** What a registry publishes of so many networks of 65,536 addresses. */
function registry(name: string, networks: readonly (readonly [octet: number, country: string])[]): string {
  const records = networks.map(([octet, country]) => `${name}|${country}|ipv4|${octet}.1.0.0|65536|20100712|allocated|01a7f1ae`);
  return [`2.3|${name}|20261127|${records.length + 1}|19830705|20261126|+0100`, `${name}|*|ipv4|*|${records.length}|summary`, `${name}|*|ipv6|*|1|summary`, ...records, `${name}|EU|ipv6|2001:608::|32|19990826|allocated|0`, ""].join("\n");
}

const REGISTRIES = { afrinic: [[41, "ZA"]], apnic: [[1, "AU"], [14, "JP"]], arin: [[3, "US"]], lacnic: [[177, "BR"]], ripencc: [[2, "FR"], [5, "DE"]] } as const;
let published: ReadonlyMap<string, Buffer>[];
let taker: CountriesTaker;
let world: FeedWorld;
beforeEach(async () => {
  published = [];
  let last = "";
  taker = createCountriesTaker({
    clock: createFakeClock(), log: silentLog,
    publish(files, sha256) {
      const isNew = sha256 !== last;
      last = sha256;
      if (isNew) published.push(files);
      return Promise.resolve(isNew);
    },
  });
  world = await startFeedWorld({
    table: FEEDS.filter(({ name }) => name === "countries"), countries: (feeds) => taker.take(feeds),
    settings: ({ url }) => ({ sources: { countries: { url: `${url}/stats/`, min_records: 5 } } }),
  });
  for (const [name, networks] of Object.entries(REGISTRIES)) serve(name, registry(name, networks));
});
afterEach(async () => {
  await taker.close();
  await world.stop();
});

const serve = (name: string, text: string | Buffer) => world.server.serve(`/stats/${name}/delegated-${name}-extended-latest`, text);
const table = () => openCountryTable(published.at(-1)?.get(TABLE_FILE) ?? new Uint8Array(), nextTurn);

test("what the five registries publish is fetched, becomes one table for probes, and is published again only where it is another", async () => {
  expect(await world.update()).toBe("completed");
  expect((await table())?.ranges).toBe(8);
  const first = await table();
  expect([[41, 1, 0, 1], [14, 1, 255, 255], [3, 1, 0, 0], [177, 1, 9, 9], [5, 1, 0, 1], [5, 2, 0, 0]].map((bytes) => first?.countryOf(Uint8Array.from(bytes)))).toEqual(["ZA", "JP", "US", "BR", "DE", ""]);
  serve("ripencc", `${registry("ripencc", REGISTRIES.ripencc)}# said again\n`);
  expect([await world.update(), published.length]).toEqual(["completed", 1]);
  serve("ripencc", registry("ripencc", [[2, "FR"], [5, "PL"]]));
  expect([await world.update(), published.length, (await table())?.countryOf(Uint8Array.of(5, 1, 0, 1))]).toEqual(["completed", 2, "PL"]);
});

test("a file that was cut, is of another registry, or is no such file is not used, and the table before stays", async () => {
  await world.update();
  const { lacnic } = REGISTRIES;
  const whole = registry("lacnic", lacnic);
  for (const [text, problem] of [
    [whole.slice(0, whole.indexOf("lacnic|EU")), "it was cut"], [registry("arin", lacnic), "there are two files of arin"], [whole.replace("2.3|", "3|"), "no file of a regional registry"], [whole.replace("|65536|", "|many|"), "not as the format says"],
  ] as const) {
    serve("lacnic", text);
    await world.update();
    expect([(await world.row("countries")).error, published.length]).toEqual([expect.stringContaining(problem) as string, 1]);
  }
  serve("lacnic", registry("lacnic", [[177, "AR"]]));
  await world.update();
  expect([(await world.row("countries")).error, (await table())?.countryOf(Uint8Array.of(177, 1, 0, 1))]).toEqual([null, "AR"]);
});

test("files that lie on this machine are taken as they are, packed or not", async () => {
  const folder = mkdtempSync(`${world.directory}/mirror-`);
  const files = Object.entries(REGISTRIES).map(([name, networks], index) => {
    const path = `${folder}/${name}.txt${index === 0 ? ".gz" : ""}`;
    writeFileSync(path, index === 0 ? gzipSync(registry(name, networks)) : registry(name, networks));
    return { name, path, packing: index === 0 ? "gzip" : "none" };
  });
  expect(await taker.take([{ name: "countries", files }])).toEqual([]);
  expect((await table())?.ranges).toBe(8);
  expect(await taker.take([{ name: "countries", files: files.map((file) => ({ ...file, packing: "xz" })) }])).toMatchObject([{ name: "countries", error: expect.stringContaining("only gzip") as string }]);
});
