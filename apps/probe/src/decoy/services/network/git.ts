/** git's daemon, which exports nothing. @see https://git-scm.com/docs/gitprotocol-pack "Git Transport" */
import { createFramedReader } from "../framed-reader.ts";
import type { Service } from "../service.ts";

const LENGTH_DIGITS = 4;

/** Reads the one request, and says that there is no such repository. */
export const git: Service = (peer) => createFramedReader(
  (bytes) => {
    if (bytes.length < LENGTH_DIGITS) return null;
    const digits = bytes.toString("latin1", 0, LENGTH_DIGITS);
    return /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : "bad";
  },
  (line) => {
    const [request = ""] = line.toString("utf8", LENGTH_DIGITS).split("\0");
    const [verb = "", path = ""] = request.trimEnd().split(" ");
    if (!verb.startsWith("git-")) {
      peer.end();
      return false;
    }
    peer.reached("command", "", `${verb} ${path}`);
    const text = `ERR access denied or repository not exported: ${path.slice(0, 256)}`;
    peer.end(`${(Buffer.byteLength(text) + LENGTH_DIGITS).toString(16).padStart(LENGTH_DIGITS, "0")}${text}`);
    return false;
  },
  () => peer.end(),
);
