/**
 * Which few bytes of a pattern stand for it in the first look at a buffer: those that other patterns and ordinary traffic have least often.
 */

/** What nearly every request, answer or name holds: windows in it would stop the search at every turn. */
const ORDINARY_TEXT = [
  "GET /index.html?id=1 HTTP/1.1\r\nHost: www.google.com\r\nConnection: keep-alive\r\nUser-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64)",
  " AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 Firefox Gecko/20100101 compatible; MSIE 7.0; Trident\r\n",
  "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8\r\nAccept-Language: en-US,en;q=0.5\r\n",
  "Accept-Encoding: gzip, deflate, br\r\nReferer: https://www.example.com/search?q=\r\nCookie: session=; Path=/; Expires\r\n",
  "HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nServer: Apache nginx\r\nContent-Type: application/json; charset=utf-8\r\n",
  "Content-Length: 100\r\nCache-Control: no-cache, no-store, max-age=0, private\r\nLast-Modified: ETag: Transfer-Encoding: chunked\r\n",
  "<!DOCTYPE html><html><head><title></title><meta http-equiv=\"Content-Type\"><script type=\"text/javascript\" src=\"http://\"></script>",
  "<link rel=\"stylesheet\" href=\"style.css\"></head><body><div class=\"content\"><a href=\"/\"></a></div></body></html>function(){var return this}",
  ".net.org.info.co.uk.php.asp.aspx.jsp.cgi-bin.exe.jpg.png.gif.zip\r\n\r\nPOST application/x-www-form-urlencoded&name=&password=&action=",
  "\u0000\u0000\u0000\u0000\u00ff\u00ff\u00ff\u00ff\u0001\u0000\u0000\u0000\u0001\u0000\u0001aaaaAAAA\u0090\u0090\u0090\u0090        ",
].join("\n");

/** A window of ordinary text costs as much as so many other patterns in it. */
const ORDINARY_COST = 64;

/** @returns Lower-case ASCII letters for upper-case ones, all other bytes as they are. */
export function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

/**
 * @returns Bytes as one signed number, the first byte lowest, with the case of letters taken off: where it differs, the bytes differ,
 * whatever their case.
 */
export function foldedAt(bytes: Uint8Array, at: number, length: 2 | 4): number {
  let window = 0;
  for (let index = length - 1; index >= 0; index -= 1) window = (window << 8) | folded(bytes[at + index] ?? 0);
  return window;
}

/** @returns The byte with the bit set that tells the case, where it may be a letter. */
export function folded(byte: number): number {
  return byte | ((byte & 0x40) >>> 1);
}

/** Chooses windows for patterns one after the other; each choice counts against the next. */
export interface WindowChooser {
  /** @returns The best place at or behind `first`, in steps of `step` bytes; -1 where the pattern is too short. */
  choose(pattern: Uint8Array, first: number, step: number): number;
}

/** Windows looked at in each pattern, so that long patterns do not slow a load down. */
const MAX_TRIED = 16;

/** @param length Bytes of a window. */
export function createWindowChooser(length: 2 | 4): WindowChooser {
  const ordinary = ordinaryCosts(length);
  const chosen = new Map<number, number>();
  return {
    choose: (pattern, first, step) => {
      let [best, bestWindow, bestCost] = [-1, 0, Infinity];
      const end = Math.min(pattern.length - length, first + (MAX_TRIED - 1) * step);
      for (let at = first; at <= end && bestCost > 0; at += step) {
        const window = foldedAt(pattern, at, length);
        const cost = (ordinary.get(window) ?? 0) + (chosen.get(window) ?? 0);
        if (cost < bestCost) [best, bestWindow, bestCost] = [at, window, cost];
      }
      if (best >= 0) chosen.set(bestWindow, (chosen.get(bestWindow) ?? 0) + 1);
      return best;
    },
  };
}

const known = new Map<number, ReadonlyMap<number, number>>();

function ordinaryCosts(length: 2 | 4): ReadonlyMap<number, number> {
  const found = known.get(length);
  if (found) return found;
  const costs = new Map<number, number>();
  const bytes = Uint8Array.from(ORDINARY_TEXT, (letter) => letter.charCodeAt(0));
  for (let at = 0; at + length <= bytes.length; at += 1) {
    const window = foldedAt(bytes, at, length);
    costs.set(window, (costs.get(window) ?? 0) + ORDINARY_COST);
  }
  known.set(length, costs);
  return costs;
}
