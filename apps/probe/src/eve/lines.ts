/** Lines out of bytes that come in pieces. */

/** Takes pieces, hands on whole lines. */
export interface LineReader {
  /** @param bytes May be a view: what is kept is copied. */
  read(bytes: Buffer): void;
  /** Forgets the beginning of a line whose end will not come; with `isInside`, what comes up to the next end of a line too. */
  reset(isInside?: boolean): void;
  /** Bytes of a line whose end has not come. */
  readonly pending: number;
}

/**
 * @param maxBytes Of a line, without its end; longer ones are passed over.
 * @param onLine Gets a view that is good during the call; empty lines are left out.
 * @param onTooLong Called once for each line that is passed over.
 */
export function createLineReader(maxBytes: number, onLine: (line: Buffer) => void, onTooLong: () => void): LineReader {
  let parts: Buffer[] = [];
  let pending = 0;
  let isSkipping = false;

  function keep(bytes: Buffer): void {
    if (isSkipping || bytes.length === 0) return;
    if (pending + bytes.length > maxBytes) {
      [parts, pending, isSkipping] = [[], 0, true];
      onTooLong();
      return;
    }
    parts.push(Buffer.from(bytes));
    pending += bytes.length;
  }

  function finish(bytes: Buffer): void {
    const isSkipped = isSkipping;
    isSkipping = false;
    if (isSkipped) return;
    if (pending + bytes.length > maxBytes) onTooLong();
    else {
      const line = parts.length === 0 ? bytes : Buffer.concat([...parts, bytes]);
      if (line.length > 0) onLine(line);
    }
    [parts, pending] = [[], 0];
  }

  return {
    get pending() {
      return pending;
    },
    read(bytes) {
      let from = 0;
      for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, from)) {
        finish(bytes.subarray(from, end));
        from = end + 1;
      }
      keep(bytes.subarray(from));
    },
    reset(isInside = false) {
      [parts, pending, isSkipping] = [[], 0, isInside];
    },
  };
}
