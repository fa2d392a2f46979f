import { readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { allocatePages, findUnwritten, PAGE_OCTETS, releaseFilePages } from "./page-memory.ts";
import { loadLibc } from "../libc.ts";

/** Resident octets of files that this process maps. @see proc_pid_status(5) */
const residentFiles = () => Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1]) * 1024;

test("pages of the program and its libraries are given back, and come back where they are needed", () => {
  const before = residentFiles();
  expect(releaseFilePages()).toBeGreaterThan(3);
  expect(residentFiles()).toBeLessThan(before - 4 * 1024 * 1024);
  // What nobody has called for a while.
  expect(new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" }).format(0)).toBe("January 1, 1970");
  expect(gunzipSync(gzipSync("back again")).toString()).toBe("back again");
});

test("what somebody wrote to is kept, in memory or swapped out, and where the system does not say so", () => {
  const mapping = (at: string, anonymous: string, swap: string) => `${at} r--p 00001000 fe:00 7 /usr/lib/libexample.so.1\nRss: 8 kB\n${anonymous}AnonHugePages: 0 kB\n${swap}SwapPss: 0 kB\n`;
  const [none, some] = ["Anonymous:             0 kB\n", "Anonymous:             4 kB\n"];
  const [noSwap, swapped] = ["Swap:                  0 kB\n", "Swap:                  4 kB\n"];
  const others = "3000-4000 r--p 00000000 00:00 0 \nAnonymous: 0 kB\nSwap: 0 kB\n4000-5000 rw-p 00000000 fe:00 7 /usr/lib/libexample.so.1\nAnonymous: 0 kB\nSwap: 0 kB\n";
  expect(findUnwritten([
    mapping("1000-3000", none, noSwap), mapping("5000-6000", some, noSwap), mapping("6000-7000", none, swapped), mapping("7000-8000", none, ""), mapping("8000-9000", "", noSwap), others,
    mapping("a000-b000", none, noSwap),
  ].join(""))).toEqual([[0x1000, 0x3000], [0xa000, 0xb000]]);
});

test("memory in pages is what was asked for, empty, and begins with a large page", () => {
  const pages = allocatePages(3 * PAGE_OCTETS);
  expect(pages.length).toBe(3 * PAGE_OCTETS);
  expect(pages.every((octet) => octet === 0)).toBe(true);
  expect(Number(loadLibc().addressOf(pages) % BigInt(2 * 1024 * 1024))).toBe(0);
});
