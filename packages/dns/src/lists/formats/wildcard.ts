import { PLAIN_BLOCK } from "../list-rule.ts";
import { eachLine, emitName, type LineParser, withoutComment } from "../line-parser.ts";

/**
 * One name in a line; `*.example.com` blocks `example.com` and all below it, as the makers of such lists mean it, and `example.com` blocks that
 * name alone.
 * @see https://0xerr0r.github.io/blocky/latest/configuration/
 */
export function createWildcardParser(): LineParser {
  return eachLine((text, emit) => {
    const name = withoutComment(text, "#");
    if (name === "" || name.startsWith("!")) return null;
    return name.startsWith("*.") ? emitName(name.slice(2), "both", PLAIN_BLOCK, emit) : emitName(name, "exact", PLAIN_BLOCK, emit);
  });
}
