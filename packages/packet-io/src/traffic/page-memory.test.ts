import { readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { allocatePages, PAGE_OCTETS, releaseFilePages } from "./page-memory.ts";
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

test("memory in pages is what was asked for, empty, and begins with a large page", () => {
  const pages = allocatePages(3 * PAGE_OCTETS);
  expect(pages.length).toBe(3 * PAGE_OCTETS);
  expect(pages.every((octet) => octet === 0)).toBe(true);
  expect(Number(loadLibc().addressOf(pages) % BigInt(2 * 1024 * 1024))).toBe(0);
});
