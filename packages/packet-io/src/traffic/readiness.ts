import type { PacketIoClock } from "../capture/capture-types.ts";
import { PacketIoError } from "../errors.ts";
import { type Libc, LINUX, loadLibc } from "../libc.ts";

/** A `struct pollfd`: the file, what is asked, what is so. @see poll(2) */
const POLLFD_OCTETS = 8;
const EVENTS_AT = 4;
const HAPPENED_AT = 6;

/**
 * The one call that waits returns at least this often. It is woken for each change, so this bounds only how long a process that ends
 * without closing its captures waits for libuv's thread; it is also all that an idle link costs.
 */
const WAIT_MS = 500;

/**
 * Where frames come, the next look is by a timer: it costs a tenth of a wake, which goes through the pool's thread and back (15 and 150 µs).
 * With the time after which the kernel closes a block, it is the most that a frame of a quiet link waits.
 */
export const LOOK_MS = 6;
/** So many looks that find nothing, and the thread waits again. */
const EMPTY_LOOKS = 3;
/** So many looks in a row, and the thread is asked too: it alone sees that a socket is broken, where another one is busy. */
const MOST_LOOKS = 25;

/** When to look again, in milliseconds: 0 where some is left for another turn of the event loop; null where there was nothing. */
export type NextLook = number | null;

/** Looks at what a socket has to read. @param isBroken It reports an error. */
type Look = (isBroken: boolean) => NextLook;

/** Gives word when sockets can be read. */
export interface Readiness {
  /** @returns What ends it: afterwards nothing is called. */
  watch(socket: number, look: Look): () => void;
}

let shared: Readiness | undefined;

/** The process's own: libuv's pool has four threads, so all sockets wait in one. @param clock The first caller's serves all. */
export function sharedReadiness(clock: PacketIoClock): Readiness {
  shared ??= createReadiness(loadLibc(), clock);
  return shared;
}

function createReadiness(libc: Libc, clock: PacketIoClock): Readiness {
  const watched = new Map<number, Look>();
  const count = Buffer.allocUnsafeSlow(8);
  let wakeup = -1;
  let state: "idle" | "waiting" | "looking" = "idle";
  let emptyLooks = 0;
  let looks = 0;

  const wake = () => {
    if (state !== "waiting") return;
    count.writeBigUInt64LE(1n);
    libc.write(wakeup, count, 8);
  };
  const wait = () => {
    state = "idle";
    if (watched.size === 0) return;
    const sockets = [...watched.keys()];
    const files = Buffer.allocUnsafeSlow((sockets.length + 1) * POLLFD_OCTETS);
    [...sockets, wakeup].forEach((file, index) => {
      files.writeInt32LE(file, index * POLLFD_OCTETS);
      files.writeInt16LE(LINUX.POLLIN, index * POLLFD_OCTETS + EVENTS_AT);
      files.writeInt16LE(0, index * POLLFD_OCTETS + HAPPENED_AT);
    });
    state = "waiting";
    libc.poll(files, sockets.length + 1, WAIT_MS, (result) => {
      state = "looking";
      emptyLooks = 0;
      looks = 0;
      const found = result > 0 ? report(sockets, files) : [];
      if (found.some((one) => one !== null)) lookAgain(found);
      else wait();
    });
  };
  const lookAgain = (last: readonly NextLook[]) => {
    const look = () => {
      const found = [...watched.values()].map((one) => one(false));
      emptyLooks = found.every((one) => one === null) ? emptyLooks + 1 : 0;
      looks += 1;
      if (emptyLooks < EMPTY_LOOKS && looks < MOST_LOOKS && watched.size > 0) lookAgain(found);
      else wait();
    };
    // One link on which little comes does not wait for another one that is busy.
    const delayMs = last.reduce<number>((least, one) => Math.min(least, one ?? least), last.every((one) => one === null) ? LOOK_MS : Number.POSITIVE_INFINITY);
    if (delayMs === 0) setImmediate(look);
    else clock.after(delayMs, look);
  };
  const report = (sockets: readonly number[], files: Buffer): readonly NextLook[] => {
    if (files.readInt16LE(sockets.length * POLLFD_OCTETS + HAPPENED_AT) !== 0) libc.read(wakeup, count, 8);
    return sockets.map((socket, index) => {
      const happened = files.readInt16LE(index * POLLFD_OCTETS + HAPPENED_AT);
      // One of the others may have ended this one.
      return happened === 0 ? null : (watched.get(socket)?.((happened & ~LINUX.POLLIN) !== 0) ?? null);
    });
  };
  return {
    watch(socket, look) {
      if (wakeup < 0) wakeup = libc.eventfd(0, LINUX.EFD_CLOEXEC | LINUX.EFD_NONBLOCK);
      if (wakeup < 0) throw new PacketIoError("capture-lost", `cannot make an eventfd (errno ${libc.errno()})`);
      watched.set(socket, look);
      wake();
      if (state === "idle") wait();
      return () => {
        if (watched.get(socket) !== look) return;
        watched.delete(socket);
        wake();
      };
    },
  };
}
