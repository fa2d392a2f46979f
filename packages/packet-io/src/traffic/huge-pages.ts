import { PacketIoError } from "../errors.ts";
import { type Libc, LINUX, loadLibc } from "../libc.ts";

const PAGE_OCTETS = 4096;

/**
 * Asks the kernel for pages of 2 MiB instead of 4 KiB for memory that is not written to yet: frames that go through many megabytes are then
 * copied in a third of the time. Without effect where the kernel does not have them, and where the C library cannot be called.
 * @see madvise(2), MADV_HUGEPAGE
 */
export function useHugePages(memory: Uint8Array): void {
  const libc = loaded();
  if (!libc) return;
  const before = Number(BigInt.asUintN(64, -libc.addressOf(memory)) % BigInt(PAGE_OCTETS));
  const octets = Math.floor((memory.length - before) / PAGE_OCTETS) * PAGE_OCTETS;
  if (octets > 0) libc.madvise(memory.subarray(before), octets, LINUX.MADV_HUGEPAGE);
}

function loaded(): Libc | null {
  try {
    return loadLibc();
  } catch (error) {
    if (error instanceof PacketIoError) return null;
    throw error;
  }
}
