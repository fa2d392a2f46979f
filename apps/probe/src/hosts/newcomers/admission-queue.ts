import type { Clock } from "@lanthorn/runtime";
import { ipv4Bytes } from "@lanthorn/packets";

/**
 * Newcomers that answer faster than they can be entered: a sweep of a large network brings fifty thousand a second, and the wire does not
 * wait. Of a burst the first few hundred are entered at once, the others when it is over, as many every 50 ms in their order.
 */
export interface AdmissionQueue {
  /** @returns Whether a newcomer may enter now; else it has to wait. */
  takeTurn(): boolean;
  /** It is handed to `enter` later. */
  wait(mac: number, ip: number): void;
  /** Lets all enter who wait. */
  enterAll(): void;
}

/** As many as are published in that time. */
const AT_ONCE = 500;
const PERIOD_MS = 50;
/** A burst that goes on so long is none: who waits is entered meanwhile. */
const MAX_BURST_MS = 3000;
/** A /16. Who comes when so many wait is entered before them. */
const MAX_WAITING = 65_536;

/** @param deps.enter Somebody's turn; the address is the receiver's own. */
export function createAdmissionQueue(deps: { readonly clock: Clock; readonly enter: (mac: number, address: Uint8Array) => void }): AdmissionQueue {
  // Numbers only: objects by the ten thousand would cost what the waiting saves.
  let macs: number[] = [];
  let ips: number[] = [];
  let next = 0;
  let room = AT_ONCE;
  let isCounting = false;
  let waitingSince = 0;

  const enterSome = (most: number) => {
    const end = Math.min(macs.length, next + most);
    for (; next < end; next += 1) deps.enter(macs[next] as number, ipv4Bytes(ips[next] as number));
    if (next < macs.length) return;
    macs = [];
    ips = [];
    next = 0;
  };
  const count = () => {
    isCounting = true;
    const before = macs.length;
    deps.clock.after(PERIOD_MS, () => {
      isCounting = false;
      const isBurst = macs.length - before >= AT_ONCE && deps.clock.monotonic() - waitingSince < MAX_BURST_MS;
      // Nobody overtakes who waits.
      room = next < macs.length ? 0 : AT_ONCE;
      if (macs.length === 0) return;
      if (!isBurst) enterSome(AT_ONCE);
      count();
    });
  };
  return {
    takeTurn() {
      if (!isCounting) {
        room = AT_ONCE;
        count();
      }
      if (room <= 0 && macs.length - next < MAX_WAITING) return false;
      room -= 1;
      return true;
    },
    wait(mac, ip) {
      if (macs.length === 0) waitingSince = deps.clock.monotonic();
      macs.push(mac);
      ips.push(ip);
    },
    enterAll: () => enterSome(macs.length),
  };
}
