import { readFileSync } from "node:fs";
import { findLibc, LINUX } from "../libc.ts";

/** Memory, length and place of what is written past the kernel's cache are multiples of this, which is what disks with the longest sectors want. */
export const PAGE_OCTETS = 4096;

/** The kernel's large pages: memory that is touched takes one of them whole. */
const LARGE_PAGE_OCTETS = 2 * 1024 * 1024;

/**
 * Memory that begins with a large page, all 0. The kernel is asked for pages of 2 MiB instead of 4 KiB: frames that go through many megabytes are then
 * copied in a third of the time. It is as good, but for that and where it begins, where the kernel does not have them, and where the C library cannot be called.
 * @param octets A multiple of `PAGE_OCTETS`.
 * @see madvise(2), MADV_HUGEPAGE
 */
export function allocatePages(octets: number): Buffer {
  const memory = Buffer.alloc(octets + LARGE_PAGE_OCTETS);
  const libc = findLibc();
  if (!libc) return memory.subarray(0, octets);
  const before = Number(BigInt.asUintN(64, -libc.addressOf(memory)) % BigInt(LARGE_PAGE_OCTETS));
  const pages = memory.subarray(before, before + octets);
  if (octets > 0) libc.madvise(pages, octets, LINUX.MADV_HUGEPAGE);
  return pages;
}

/** The first line of a mapping in /proc/PID/smaps: from, to, whether it is only read, and private, and the file. @see proc_pid_smaps(5) */
const FILE_MAPPING = /^([0-9a-f]+)-([0-9a-f]+) r-[x-]p \S+ \S+ [1-9]\d*\s+\//;

/**
 * Gives back the pages of the program and its libraries: files that are mapped, and that nobody wrote to. What is needed comes back from the kernel's cache when it is
 * touched, and what only a start needed does not: some 20 MB of Node. Takes some milliseconds.
 * @returns How many stretches were given back; 0 too where the C library cannot be called, or the system does not say what is mapped.
 * @see madvise(2), MADV_DONTNEED
 */
export function releaseFilePages(): number {
  const libc = findLibc();
  if (!libc) return 0;
  let released = 0;
  for (const [from, to] of findUnwritten(readMappings())) {
    if (libc.madviseAt(from, to - from, LINUX.MADV_DONTNEED) === 0) released += 1;
  }
  return released;
}

/**
 * Finds files that are mapped, and that nobody wrote to: no page of them is the process's own, in memory or swapped out. What the dynamic linker wrote would be lost.
 * @param smaps As in /proc/PID/smaps.
 * @returns Where each begins and ends.
 * @see proc_pid_smaps(5)
 */
export function findUnwritten(smaps: string): readonly (readonly [from: number, to: number])[] {
  const found: (readonly [number, number])[] = [];
  let mapping: RegExpExecArray | null = null;
  let isOwn = true;
  for (const line of smaps.split("\n")) {
    if (/^[0-9a-f]+-/.test(line)) [mapping, isOwn] = [FILE_MAPPING.exec(line), true];
    else if (line.startsWith("Anonymous:")) isOwn = kilobytesOf(line) !== 0;
    // Behind the other: where it is not said, nothing is given back.
    else if (line.startsWith("Swap:") && mapping && !isOwn && kilobytesOf(line) === 0) found.push([Number.parseInt(mapping[1] ?? "", 16), Number.parseInt(mapping[2] ?? "", 16)]);
  }
  return found;
}

const kilobytesOf = (line: string) => Number.parseInt(line.slice(line.indexOf(":") + 1), 10);

function readMappings(): string {
  try {
    return readFileSync("/proc/self/smaps", "latin1");
  } catch {
    // A system without /proc, or one that hides it: nothing is given back.
    return "";
  }
}
