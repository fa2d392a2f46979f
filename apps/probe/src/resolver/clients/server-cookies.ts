/**
 * Cookies for clients: who brings back one of ours got our answer, so their address is their own. The layout is RFC 9018's, the hash
 * HMAC-SHA-256: no other server has to know it.
 * @see RFC 7873 section 5.2, RFC 9018 section 4
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "@lanthorn/runtime";

/** What is made of a client's cookie. */
export interface ServerCookie {
  /** The client's 8 bytes and our 16, for the response. */
  readonly cookie: Uint8Array;
  /** The client brought back ours. */
  readonly isKnown: boolean;
}

const CLIENT_LENGTH = 8;
const WHOLE_LENGTH = 24;
/** RFC 9018 section 4.3: an hour, and five minutes into the future. */
const MAX_AGE_SECONDS = 3600;
const MAX_AHEAD_SECONDS = 300;

/** @param secret 32 random bytes, made at each start: a client that brings an older cookie gets a new one. */
export function createServerCookies(secret: Uint8Array, clock: Pick<Clock, "now">): (given: Uint8Array, address: string) => ServerCookie {
  const sign = (head: Uint8Array, address: string) => createHmac("sha256", secret).update(head).update(address).digest().subarray(0, 8);
  return (given, address) => {
    const now = Math.floor(clock.now() / 1000);
    const cookie = Buffer.alloc(WHOLE_LENGTH);
    cookie.set(given.subarray(0, CLIENT_LENGTH), 0);
    cookie[CLIENT_LENGTH] = 1;
    cookie.writeUInt32BE(now >>> 0, 12);
    cookie.set(sign(cookie.subarray(0, 16), address), 16);
    return { cookie, isKnown: given.length === WHOLE_LENGTH && isOurs(Buffer.from(given), address, now, sign) };
  };
}

function isOurs(given: Buffer, address: string, now: number, sign: (head: Uint8Array, address: string) => Uint8Array): boolean {
  const age = now - given.readUInt32BE(12);
  return age <= MAX_AGE_SECONDS && age >= -MAX_AHEAD_SECONDS && timingSafeEqual(given.subarray(16), sign(given.subarray(0, 16), address));
}
