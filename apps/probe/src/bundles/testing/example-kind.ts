import { isIP } from "node:net";
import type { BundleKind } from "../install.ts";
import { ProbeError } from "../../errors.ts";

/** Lists of addresses, one on each line. */
export const blockLists: BundleKind = {
  name: "block-lists",
  maxBytes: 1024 * 1024,
  check(files) {
    for (const [path, bytes] of files) {
      const wrong = bytes.toString("utf8").trimEnd().split("\n").findIndex((line) => isIP(line) === 0);
      if (wrong >= 0) return Promise.reject(new ProbeError("bundle-refused", `line ${wrong + 1} of ${path} is no address`));
    }
    return Promise.resolve();
  },
};
