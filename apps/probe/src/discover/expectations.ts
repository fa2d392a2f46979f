import { parseIp } from "@lanthorn/packets";
import type { Link } from "../capture/link.ts";
import { encodeAddressRequest } from "../egress/request-frames.ts";

/** Addresses that hosts are about to use: asked for until the host answers, as a switch shows us neither its lease nor its first words. */
export interface Expectations {
  add(mac: number, address: string, now: number): void;
  /** Forgets those that came true. @param isThere Whether the host was seen at the address. */
  settle(isThere: (mac: number, address: string) => boolean, now: number): void;
  /** Requests that are due, as frames. */
  packets(link: Link, now: number): Generator<Uint8Array>;
  /** Whether a request is due. */
  isDue(now: number): boolean;
}

/** After a lease is asked for or an address probed: RFC 5227 probes take up to seven seconds, a DHCP server's own check three. */
const ASK_AFTER_MS = [300, 1000, 2000, 3500, 5000, 8000] as const;
const MAX_EXPECTED = 256;

/** Holds 256 addresses at most; more are not asked for. Each is asked six times within eight seconds. */
export function createExpectations(): Expectations {
  const expected = new Map<string, { readonly mac: number; readonly address: string; readonly since: number; asked: number }>();
  return {
    add(mac, address, now) {
      const key = `${mac} ${address}`;
      if (expected.has(key) || expected.size >= MAX_EXPECTED) return;
      expected.set(key, { mac, address, since: now, asked: 0 });
    },
    settle(isThere, now) {
      for (const [key, { mac, address, since, asked }] of expected) {
        const isOver = asked >= ASK_AFTER_MS.length && now - since > (ASK_AFTER_MS.at(-1) as number) + 2000;
        if (isOver || isThere(mac, address)) expected.delete(key);
      }
    },
    isDue(now) {
      for (const one of expected.values()) if (now - one.since >= (ASK_AFTER_MS[one.asked] ?? Number.POSITIVE_INFINITY)) return true;
      return false;
    },
    *packets(link, now) {
      for (const one of expected.values()) {
        if (now - one.since < (ASK_AFTER_MS[one.asked] ?? Number.POSITIVE_INFINITY)) continue;
        one.asked += 1;
        const target = parseIp(one.address);
        const frame = target && encodeAddressRequest(link, target, null);
        if (frame) yield frame;
      }
    },
  };
}
