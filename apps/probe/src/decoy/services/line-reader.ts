/** A line that is longer is cut. */
const MAX_LINE_BYTES = 2048;

/**
 * Splits bytes into lines, which end with LF, CR or CR LF. A byte is a character.
 * @returns What takes the bytes.
 */
export function createLineReader(onLine: (line: string) => void): (bytes: Buffer) => void {
  let line = "";
  let wasReturn = false;
  return (bytes) => {
    for (const character of bytes.toString("latin1")) {
      const isSecond = character === "\n" && wasReturn;
      wasReturn = character === "\r";
      if (isSecond || character === "\0") continue;
      if (character !== "\n" && character !== "\r") {
        if (line.length < MAX_LINE_BYTES) line += character;
        continue;
      }
      const whole = line;
      line = "";
      onLine(whole);
    }
  };
}

/** @returns The first word in upper case, and what follows it. */
export function splitCommand(line: string): { readonly verb: string; readonly rest: string } {
  const at = line.indexOf(" ");
  return at < 0 ? { verb: line.trim().toUpperCase(), rest: "" } : { verb: line.slice(0, at).toUpperCase(), rest: line.slice(at + 1).trim() };
}

/** @returns What SASL PLAIN has; null for what is none. @see RFC 4616 section 2 */
export function readSaslPlain(base64: string): { readonly username: string; readonly password: string } | null {
  const [, username, password] = Buffer.from(base64, "base64").toString("utf8").split("\0");
  return username === undefined || password === undefined ? null : { username, password };
}
