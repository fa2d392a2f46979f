import { PLAIN_BLOCK } from "../list-rule.ts";
import { eachLine, emitName, type LineParser, withoutComment } from "../line-parser.ts";

/** One name in a line, blocked without the names below it, as AdGuard takes such lists. */
export function createDomainsParser(): LineParser {
  return eachLine((text, emit) => {
    const name = withoutComment(text, "#");
    return name === "" || name.startsWith("!") ? null : emitName(name, "exact", PLAIN_BLOCK, emit);
  });
}
