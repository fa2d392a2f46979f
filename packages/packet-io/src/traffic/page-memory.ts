import { PacketIoError } from "../errors.ts";
import { type Libc, LINUX, loadLibc } from "../libc.ts";

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
  const libc = loaded();
  if (!libc) return memory.subarray(0, octets);
  const before = Number(BigInt.asUintN(64, -libc.addressOf(memory)) % BigInt(LARGE_PAGE_OCTETS));
  const pages = memory.subarray(before, before + octets);
  if (octets > 0) libc.madvise(pages, octets, LINUX.MADV_HUGEPAGE);
  return pages;
}

function loaded(): Libc | null {
  try {
    return loadLibc();
  } catch (error) {
    if (error instanceof PacketIoError) return null;
    throw error;
  }
}
