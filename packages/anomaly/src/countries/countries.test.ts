import { describe, expect, test } from "vitest";
import { type CountryRange, createCountryTable, createDelegatedReader, openCountryTable } from "../index.ts";

const RIPE = `# a comment
2.3|ripencc|20261127|5|19830705|20261126|+0100
ripencc|*|ipv4|*|4|summary
ripencc|*|asn|*|1|summary
ripencc|*|ipv6|*|3|summary
ripencc|FR|ipv4|2.0.0.0|1048576|20100712|allocated|01a7f1ae
ripencc|DE|ipv4|2.16.0.0|1024|20100713|assigned|01a7f1af
ripencc||ipv4|2.16.4.0|256||available|
ripencc|DE|ipv4|2.16.5.0|768|20100713|allocated|01a7f1af|e-stats
ripencc|SE|asn|7|1|19930901|allocated|xyz
ripencc|NL|ipv6|2001:600::|32|19990826|allocated|0
ripencc|EU|ipv6|2001:608:ffff::|48|19990826|assigned|0
ripencc||ipv6|2001:700::|32||reserved|
`;

function read(text: string, piece = text.length) {
  const reader = createDelegatedReader();
  const ranges: CountryRange[] = [];
  for (let at = 0; at < text.length; at += piece) ranges.push(...reader.push(text.slice(at, at + piece)));
  const ended = reader.end();
  return "problem" in ended ? ended : { summary: ended.summary, ranges: [...ranges, ...ended.ranges] };
}

const v4 = (text: string) => Uint8Array.from(text.split(".").map(Number));
const v6 = (...groups: readonly number[]) => Uint8Array.from(Array.from({ length: 8 }, (_, place) => groups[place] ?? 0).flatMap((group) => [group >>> 8, group & 255]));

describe("a registry's file", () => {
  test("is read in pieces of any length: what was given, to whom, and nothing else", () => {
    const whole = read(RIPE);
    expect(whole).toEqual({
      summary: { registry: "ripencc", day: "20261126", announced: 7, records: 7, malformed: 0 },
      ranges: [
        { family: 4, first: 0x02000000, last: 0x020fffff, country: "FR" }, { family: 4, first: 0x02100000, last: 0x021003ff, country: "DE" }, { family: 4, first: 0x02100500, last: 0x021007ff, country: "DE" },
        { family: 6, first: 0x200106000000, last: 0x20010600ffff, country: "NL" }, { family: 6, first: 0x20010608ffff, last: 0x20010608ffff, country: "EU" },
      ],
    });
    for (const piece of [1, 7, 64]) expect(read(RIPE, piece)).toEqual(whole);
    expect(read(RIPE.replaceAll("\n", "\r\n").trimEnd())).toEqual(whole);
  });

  test("is refused where it is another, was cut, has nothing, or is not as the format says", () => {
    for (const [text, problem] of [
      ["", "no file of a regional registry"], ["<html>not found</html>\n", "no file of a regional registry"], [RIPE.replace("2.3|", "3|"), "no file of a regional registry"],
      [RIPE.slice(0, RIPE.indexOf("ripencc|NL")), "it was cut"], [RIPE.split("\n").slice(0, 2).join("\n"), "no addresses"], [`${RIPE}${"x".repeat(5000)}`, "longer than"],
      [RIPE.replace("2.0.0.0|1048576", "2.0.0.999|1"), "not as the format says"], [RIPE.replace("|1024|", "|-4|"), "not as the format says"], [RIPE.replace("|FR|", "|france|"), "not as the format says"],
      [RIPE.replace("2.0.0.0|1048576", "255.255.255.0|1024"), "not as the format says"], [RIPE.replace("2001:600::|32", "2001:600::|12"), "not as the format says"], [RIPE.replace("2001:600::|32", "2001:zz::|32"), "not as the format says"],
    ] as const) expect([text.slice(0, 60), read(text)]).toEqual([text.slice(0, 60), { problem: expect.stringContaining(problem) as string }]);
  });
});

describe("a table of countries", () => {
  const { ranges } = read(RIPE) as { ranges: CountryRange[] };
  const table = createCountryTable(ranges);

  test("finds the country of an address, at both ends of each range and nowhere else", () => {
    for (const [ip, country] of [
      ["1.255.255.255", ""], ["2.0.0.0", "FR"], ["2.15.255.255", "FR"], ["2.16.0.0", "DE"], ["2.16.3.255", "DE"], ["2.16.4.0", ""], ["2.16.5.0", "DE"], ["2.16.7.255", "DE"], ["2.16.8.0", ""], ["255.255.255.255", ""], ["0.0.0.0", ""],
    ] as const) expect([ip, table?.countryOf(v4(ip))]).toEqual([ip, country]);
    expect([v6(0x2001, 0x600), v6(0x2001, 0x600, 0xffff, 0xffff), v6(0x2001, 0x601), v6(0x2001, 0x608, 0xffff, 1), v6(0x2001, 0x608, 0xfffe)].map((address) => table?.countryOf(address))).toEqual(["NL", "NL", "", "EU", ""]);
    expect(table?.countryOf(new Uint8Array(6))).toBe("");
  });

  test("is the same from its bytes, and nothing from damaged ones", async () => {
    const bytes = table?.bytes ?? new Uint8Array();
    expect(await openAtOnce(bytes)).toMatchObject({ ranges: 5 });
    expect((await openAtOnce(bytes))?.countryOf(v4("2.16.7.1"))).toBe("DE");
    expect(createCountryTable(ranges.toReversed())?.bytes).toEqual(bytes);
    for (let length = 0; length < bytes.length; length += 1) expect(await openAtOnce(bytes.subarray(0, length))).toBeNull();
    const broken = (offset: number, value: number) => bytes.map((byte, index) => (index === offset ? value : byte));
    for (const damaged of [broken(0, 0), broken(4, 9), broken(16 + 7, 0xff), broken(16 + 16, 0)]) expect(await openAtOnce(damaged)).toBeNull();
  });

  test("joins what follows each other, and cuts what two registries have", () => {
    const range = (first: number, last: number, country: string): CountryRange => ({ family: 4, first, last, country });
    const made = createCountryTable([range(10, 19, "DE"), range(20, 29, "DE"), range(25, 40, "FR"), range(26, 27, "IT"), range(41, 50, "FR")]);
    expect([made?.ranges, [9, 10, 29, 30, 50, 51].map((last) => made?.countryOf(Uint8Array.of(0, 0, 0, last)))]).toEqual([2, ["", "DE", "DE", "FR", "FR", ""]]);
    expect(createCountryTable([])?.countryOf(v4("1.2.3.4"))).toBe("");
  });

  test("of 400,000 ranges answers a million questions a second", () => {
    const many = createCountryTable(Array.from({ length: 400_000 }, (_, index) => range4(index * 8192, index % 2 === 0 ? "DE" : "FR")));
    const address = new Uint8Array(4);
    const begin = performance.now();
    for (let question = 0; question < 1_000_000; question += 1) {
      address[0] = question & 127;
      address[1] = question >>> 8;
      many?.countryOf(address);
    }
    // Some 200 ns each; of a busy machine ten times as much.
    expect(performance.now() - begin).toBeLessThan(10_000);
    expect(many?.ranges).toBe(400_000);
  });
});

test("a table is looked at a few thousand ranges at a time, and not copied", async () => {
  const { bytes } = createCountryTable(Array.from({ length: 400_000 }, (_, index) => range4(index * 8192, index % 2 === 0 ? "DE" : "FR"))) ?? { bytes: new Uint8Array() };
  let pauses = 0;
  const table = await openCountryTable(bytes, () => {
    pauses += 1;
    return Promise.resolve();
  });
  expect([pauses, table?.ranges, table?.bytes === bytes, table?.countryOf(v4("0.0.32.0"))]).toEqual([97, 400_000, true, "FR"]);
  // The last of the ranges is no less looked at than the first.
  const damaged = bytes.map((byte, index) => (index === bytes.length - 1 ? 0x20 : byte));
  expect(await openAtOnce(damaged)).toBeNull();
});

function openAtOnce(bytes: Uint8Array) {
  return openCountryTable(bytes, () => Promise.resolve());
}

function range4(first: number, country: string): CountryRange {
  return { family: 4, first, last: first + 8191, country };
}
