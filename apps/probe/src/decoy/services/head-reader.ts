/** The beginning of a request of HTTP. */
export interface RequestHead {
  readonly first: string;
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

const MAX_HEAD_BYTES = 16 * 1024;
const MAX_HEADERS = 100;

/** @returns The first line and the headers of a head without the empty line at its end. */
export function parseHead(text: string): RequestHead {
  const [first = "", ...lines] = text.split("\r\n");
  const headers = new Map(lines.slice(0, MAX_HEADERS).map((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const;
  }));
  return { first, headers };
}

/**
 * Reads one head, and passes over what follows.
 * @param onBad It is too long.
 */
export function createHeadReader(onHead: (head: RequestHead) => void, onBad: () => void): (bytes: Buffer) => void {
  let held = Buffer.alloc(0);
  let isOver = false;
  return (bytes) => {
    if (isOver) return;
    held = Buffer.concat([held, bytes]);
    const end = held.indexOf("\r\n\r\n");
    if (end < 0 && held.length <= MAX_HEAD_BYTES) return;
    isOver = true;
    if (end < 0) onBad();
    else onHead(parseHead(held.toString("latin1", 0, end)));
  };
}
