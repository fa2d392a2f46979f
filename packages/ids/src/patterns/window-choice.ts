/**
 * Which few bytes of a pattern stand for it in the first look at a buffer: those that other patterns and ordinary traffic have least often.
 */

/** Bytes of a window. Shorter patterns are their own window. */
export const WINDOW_BYTES = 4;

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

/** @returns The window's bytes in lower case as one signed number of 32 bits, the last byte lowest. */
export function windowAt(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let index = 0; index < count; index += 1) value = (value << 8) | lowerCase(bytes[at + index] ?? 0);
  return value;
}

/** Chooses windows for patterns one after the other; each choice counts against the next. */
export interface WindowChooser {
  /** @returns Where the window begins; 0 for patterns of `WINDOW_BYTES` or fewer. */
  choose(pattern: Uint8Array): number;
}

/** @param maxTried Windows looked at in each pattern, so that long patterns do not slow a load down. */
export function createWindowChooser(maxTried = 64): WindowChooser {
  const costs = new Map<number, number>();
  const ordinary = Uint8Array.from(ORDINARY_TEXT, (letter) => letter.charCodeAt(0));
  for (let at = 0; at + WINDOW_BYTES <= ordinary.length; at += 1) costs.set(windowAt(ordinary, at, WINDOW_BYTES), ORDINARY_COST);
  return {
    choose: (pattern) => {
      const tried = Math.min(pattern.length - WINDOW_BYTES + 1, maxTried);
      let [best, bestCost] = [0, Infinity];
      for (let at = 0; at < tried && bestCost > 0; at += 1) {
        const cost = costs.get(windowAt(pattern, at, WINDOW_BYTES)) ?? 0;
        if (cost < bestCost) [best, bestCost] = [at, cost];
      }
      if (tried > 0) {
        const window = windowAt(pattern, best, WINDOW_BYTES);
        costs.set(window, (costs.get(window) ?? 0) + 1);
      }
      return best;
    },
  };
}
