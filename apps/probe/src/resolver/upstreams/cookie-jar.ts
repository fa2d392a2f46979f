/** Cookies between us and one server, so that who does not see our queries cannot answer them. @see RFC 7873 section 5 */
import type { Edns } from "@lanthorn/packets";
import type { FillRandom } from "./exchange.ts";

/** What both sides gave each other. */
export interface CookieJar {
  /** To be sent: ours, and behind it the server's where it has given one. */
  own(): Uint8Array;
  /**
   * Takes the server's cookie from a response.
   * @returns False where the response has the wrong one, or none though the server has given one before.
   */
  accepts(edns: Edns | null): boolean;
}

const COOKIE = 10;
const OWN_LENGTH = 8;
const MAX_LENGTH = 40;
/** So many responses in a row without a cookie, and the server is taken for one that has none: some of a farm may know none. */
const MOST_REFUSED = 3;

/** @param fillRandom Our own cookie is another one for each server (RFC 7873 section 4.1). */
export function createCookieJar(fillRandom: FillRandom): CookieJar {
  let cookie: Uint8Array = new Uint8Array(OWN_LENGTH);
  fillRandom(cookie);
  let refused = 0;
  const forget = () => {
    cookie = cookie.slice(0, OWN_LENGTH);
    refused = 0;
  };
  return {
    own: () => cookie,
    accepts(edns) {
      const given = edns?.options.find(({ code }) => code === COOKIE)?.value;
      if (given && given.length >= OWN_LENGTH && given.length <= MAX_LENGTH && given.subarray(0, OWN_LENGTH).every((byte, at) => byte === cookie[at])) {
        refused = 0;
        cookie = Uint8Array.prototype.slice.call(given);
        return true;
      }
      if (given === undefined && cookie.length === OWN_LENGTH) return true;
      refused += 1;
      if (refused >= MOST_REFUSED) forget();
      return false;
    },
  };
}
