import { createRequire } from "node:module";
import type * as Koffi from "koffi";
import { PacketIoError } from "./errors.ts";

/** The few functions of the C library that raw links need; each answers as in its manual page, -1 where it failed. */
export interface Libc {
  socket(domain: number, type: number, protocol: number): number;
  bind(socket: number, address: Uint8Array, length: number): number;
  listen(socket: number, backlog: number): number;
  setsockopt(socket: number, level: number, option: number, value: Uint8Array, length: number): number;
  getsockopt(socket: number, level: number, option: number, value: Uint8Array, length: Uint8Array): number;
  sendmmsg(socket: number, messages: Uint8Array, count: number, flags: number): number;
  /** @returns The mapped stretch as memory that belongs to the kernel, or null. Nothing may look at it after `unmap`. */
  map(socket: number, length: number): ArrayBuffer | null;
  unmap(memory: ArrayBuffer): void;
  close(socket: number): number;
  getsockname(socket: number, address: Uint8Array, length: Uint8Array): number;
  eventfd(initial: number, flags: number): number;
  /** For an eventfd: 8 octets are added to its count. */
  write(file: number, bytes: Uint8Array, length: number): number;
  /** For an eventfd: 8 octets, its count, which is 0 afterwards. */
  read(file: number, bytes: Uint8Array, length: number): number;
  /**
   * poll(2) in a thread of libuv's pool: one call takes one of its four threads, and keeps the process alive, until it returns.
   * @param files `struct pollfd`s; must stay referenced and alone until `onEnd`.
   * @param onEnd Called in a later turn with what poll gives back.
   */
  poll(files: Uint8Array, count: number, timeoutMs: number, onEnd: (result: number) => void): void;
  /**
   * Makes a context of the kernel's asynchronous I/O.
   * @returns It, or null where the kernel has none, or allows none. @see io_setup(2)
   */
  ioSetup(operations: number): bigint | null;
  /**
   * io_submit(2) in a thread of libuv's pool: writes to files that are not open for direct I/O are done when it returns.
   * @param pointers Of `struct iocb`s; they, these, and what is written must stay referenced and alone until `onEnd`.
   * @param onEnd Called in a later turn with how many were begun; below 1 where none was.
   */
  ioSubmit(context: bigint, count: number, pointers: Uint8Array, onEnd: (result: number) => void): void;
  /** Takes what has ended, without waiting. @param events `struct io_event`s. @returns How many were taken. @see io_getevents(2) */
  ioGetEvents(context: bigint, count: number, events: Uint8Array): number;
  /** posix_fadvise(2) in a thread of libuv's pool. @param onEnd Called in a later turn with 0, or the number of an error. */
  fadvise(file: number, position: number, length: number, advice: number, onEnd: (result: number) => void): void;
  /** @param memory Begins with a page. */
  madvise(memory: Uint8Array, length: number, advice: number): number;
  /** The same of memory that no buffer has. */
  madviseAt(address: number, length: number, advice: number): number;
  /** 0 when there is no such interface. */
  if_nametoindex(name: string): number;
  /** Of the last call that failed. @see errno(3) */
  errno(): number;
  /** Where memory lies. It stays there as long as the buffer is referenced: its storage is outside V8's heap. */
  addressOf(memory: Uint8Array): bigint;
}

/** @see socket(2), packet(7), mmap(2); the numbers are those of linux/socket.h, the same on every 64-bit Linux but MIPS and SPARC. */
export const LINUX = {
  AF_INET: 2, AF_INET6: 10, AF_PACKET: 17, SOCK_STREAM: 1, SOCK_DGRAM: 2, SOCK_RAW: 3, SOCK_CLOEXEC: 0x80000,
  SOL_SOCKET: 1, SO_ERROR: 4, SO_ATTACH_FILTER: 26, IPPROTO_IPV6: 41, IPV6_V6ONLY: 26,
  SOL_PACKET: 263, PACKET_ADD_MEMBERSHIP: 1, PACKET_RX_RING: 5, PACKET_STATISTICS: 6, PACKET_VERSION: 10, PACKET_RESERVE: 12,
  PACKET_QDISC_BYPASS: 20, PACKET_IGNORE_OUTGOING: 23, PACKET_MR_PROMISC: 1, ARPHRD_ETHER: 1, ARPHRD_LOOPBACK: 772,
  POLLIN: 0x0001, POLLERR: 0x0008, EFD_CLOEXEC: 0x80000, EFD_NONBLOCK: 0x800,
  MSG_DONTWAIT: 0x40, PROT_READ_WRITE: 3, MAP_SHARED: 1, MADV_DONTNEED: 4, MADV_HUGEPAGE: 14, POSIX_FADV_DONTNEED: 4, MAP_FAILED: 0xffffffffffffffffn, ETH_P_ALL: 0x0003,
  EINTR: 4, ENXIO: 6, EAGAIN: 11, ENODEV: 19, EMSGSIZE: 90, EADDRINUSE: 98, ENETDOWN: 100, ENOBUFS: 105, EPERM: 1, EACCES: 13,
} as const;

/** The numbers of calls that the C library has no function for. @see asm/unistd.h */
const CALLS = { x64: { ioSetup: 206, ioGetEvents: 208, ioSubmit: 209 }, arm64: { ioSetup: 0, ioSubmit: 2, ioGetEvents: 4 } } as const;
const NO_TIME = Buffer.alloc(16);

let loaded: Libc | undefined;

/**
 * Loads koffi (some 3 MB of resident memory) at the first call, so that a process that never scans does not carry it.
 * @throws PacketIoError `library-missing` where it has no binary, and on machines whose C structures are laid out otherwise.
 */
export function loadLibc(): Libc {
  loaded ??= bindLibc();
  return loaded;
}

/** The same for who can do without it. @returns Null where it cannot be loaded. */
export function findLibc(): Libc | null {
  try {
    return loadLibc();
  } catch (error) {
    if (error instanceof PacketIoError) return null;
    throw error;
  }
}

function bindLibc(): Libc {
  if (process.platform !== "linux" || (process.arch !== "x64" && process.arch !== "arm64")) {
    const here = `${process.platform} ${process.arch}`;
    throw new PacketIoError("library-missing", `raw links work on 64-bit Intel and ARM Linux only, not on ${here}`);
  }
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof Koffi;
    const library = koffi.load("libc.so.6");
    const mmap = library.func("void *mmap(void *address, size_t length, int protection, int flags, int fd, int64_t offset)");
    const poll = library.func("int poll(_Inout_ void *files, unsigned long count, int timeout)");
    const munmap = library.func("int munmap(void *address, size_t length)");
    const calls = CALLS[process.arch];
    const ioSetup = library.func("long syscall(long call, unsigned int operations, _Inout_ void *context)");
    const ioSubmit = library.func("long syscall(long call, uint64_t context, long count, void *pointers)");
    const ioGetEvents = library.func("long syscall(long call, uint64_t context, long least, long most, _Inout_ void *events, void *time)");
    const fadvise = library.func("int posix_fadvise(int fd, int64_t offset, int64_t length, int advice)");
    const maps = new Map<ArrayBuffer, { readonly pointer: unknown; readonly length: number }>();
    return {
      socket: library.func("int socket(int domain, int type, int protocol)"),
      bind: library.func("int bind(int fd, void *address, uint32_t length)"),
      listen: library.func("int listen(int fd, int backlog)"),
      setsockopt: library.func("int setsockopt(int fd, int level, int option, void *value, uint32_t length)"),
      getsockopt: library.func("int getsockopt(int fd, int level, int option, _Inout_ void *value, _Inout_ void *length)"),
      sendmmsg: library.func("int sendmmsg(int fd, void *messages, unsigned int count, int flags)"),
      map(socket, length) {
        const pointer: unknown = mmap(null, length, LINUX.PROT_READ_WRITE, LINUX.MAP_SHARED, socket, 0);
        if (pointer === null || koffi.address(pointer) === LINUX.MAP_FAILED) return null;
        const memory = koffi.view(pointer, length);
        maps.set(memory, { pointer, length });
        return memory;
      },
      unmap(memory) {
        const map = maps.get(memory);
        if (maps.delete(memory)) munmap(map?.pointer, map?.length);
      },
      close: library.func("int close(int fd)"),
      getsockname: library.func("int getsockname(int fd, _Inout_ void *address, _Inout_ void *length)"),
      eventfd: library.func("int eventfd(unsigned int initial, int flags)"),
      write: library.func("intptr_t write(int fd, void *bytes, size_t length)"),
      read: library.func("intptr_t read(int fd, _Inout_ void *bytes, size_t length)"),
      poll: (files, count, timeoutMs, onEnd) => {
        poll.async(files, count, timeoutMs, (_: unknown, result: number) => onEnd(result));
      },
      ioSetup(operations) {
        const context = new BigUint64Array(1);
        return ioSetup(calls.ioSetup, operations, new Uint8Array(context.buffer)) === 0 ? context[0] ?? null : null;
      },
      ioSubmit: (context, count, pointers, onEnd) => {
        ioSubmit.async(calls.ioSubmit, context, count, pointers, (_: unknown, result: number) => onEnd(result));
      },
      ioGetEvents: (context, count, events) => ioGetEvents(calls.ioGetEvents, context, 0, count, events, NO_TIME) as number,
      fadvise: (file, position, length, advice, onEnd) => {
        fadvise.async(file, position, length, advice, (_: unknown, result: number) => onEnd(result));
      },
      madvise: library.func("int madvise(void *address, size_t length, int advice)"),
      madviseAt: library.func("int madvise(uintptr_t address, size_t length, int advice)"),
      if_nametoindex: library.func("unsigned int if_nametoindex(const char *name)"),
      errno: () => koffi.errno(),
      addressOf: (memory) => koffi.address(memory),
    };
  } catch (cause) {
    throw new PacketIoError("library-missing", "cannot load koffi, or the C library through it; run `npm install`", { cause });
  }
}
