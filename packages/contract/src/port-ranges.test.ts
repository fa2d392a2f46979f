import { expect, test } from "vitest";
import { formatPortRanges, holdsPort, PortRanges, readPortRanges } from "./index.ts";

const accepts = (text: string) => PortRanges.safeParse(text).success;

test("ports are written as ranges, and read back to the same ports", () => {
  const lists = [[], [0], [22], [22, 23], [22, 80, 1000, 1001, 1002, 65_534, 65_535], Array.from({ length: 65_536 }, (_, port) => port)];
  expect(lists.slice(0, 5).map(formatPortRanges)).toEqual(["", "0", "22", "22-23", "22,80,1000-1002,65534-65535"]);
  for (const ports of lists) {
    const text = formatPortRanges(ports);
    expect(accepts(text)).toBe(true);
    expect(readPortRanges(text).flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index))).toEqual(ports);
  }
});

test("a port is found in the first, a middle and the last range, and not between or beside them", () => {
  const ranges = readPortRanges("22,80,1000-1010,65535");
  expect([22, 80, 1000, 1005, 1010, 65_535].every((port) => holdsPort(ranges, port))).toBe(true);
  expect([0, 21, 23, 79, 81, 999, 1011, 65_534].some((port) => holdsPort(ranges, port))).toBe(false);
  expect(holdsPort(readPortRanges(""), 22)).toBe(false);
});

test("texts that are no ascending ports up to 65535 are refused", () => {
  const wrong = [
    " ", "22 ", "22,", ",22", "a", "22-", "-22", "22-21", "80,22", "22,22", "20-30,30", "65536", "1-65536", "99999", "100000", "1,,2", "1-2-3", "+1", "1.5",
    "٢٢",
  ];
  expect(wrong.filter(accepts)).toEqual([]);
});

test("the longest text is taken, and a longer one is refused without reading it", () => {
  const long = Array.from({ length: 2000 }, (_, index) => 10_000 + 2 * index).join(",").slice(0, 8189);
  expect([accepts(long), accepts(`${long},65535`)]).toEqual([true, false]);
  expect(accepts("1".repeat(1_000_000))).toBe(false);
});
