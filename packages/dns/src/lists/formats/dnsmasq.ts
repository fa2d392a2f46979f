/** Options of dnsmasq that name domains. @see dnsmasq(8), --address, --local, --server */
import { parseIp } from "@lanthorn/packets";
import { bodyOf, PLAIN_ALLOW, PLAIN_BLOCK, type RuleBody } from "../list-rule.ts";
import { eachLine, emitName, type LineParser, type ListOptions, REASON, withoutComment } from "../line-parser.ts";
import { addressBody, isBlockAddress } from "./hosts.ts";

const NXDOMAIN = bodyOf({ kind: "block", answer: "nxdomain" });
const MAX_NAMES = 64;

/** `address=/a/b/`, `local=/a/` and `server=/a/` block the names and all below them; `server=/a/#` is an exception. */
export function createDnsmasqParser({ mayRewrite }: Pick<ListOptions, "mayRewrite">): LineParser {
  return eachLine((text, emit) => {
    const line = text.trim();
    if (line === "" || line.startsWith("#")) return null;
    const equals = line.indexOf("=");
    const option = line.slice(0, equals).trim();
    const [before, ...parts] = line.slice(equals + 1).trim().split("/");
    // A # that is a word of its own is a value; behind space it begins a comment.
    const value = withoutComment(parts.pop() ?? "", " #");
    if (equals < 0 || before !== "" || parts.length === 0) return "is no option with names between slashes";
    if (parts.length > MAX_NAMES) return "has too many names";
    const body = bodyFor(option, value, mayRewrite);
    if (typeof body === "string") return body;
    const reasons = parts.map((name) => emitName(name.startsWith(".") ? name.slice(1) : name, "both", body, emit));
    return reasons.find((reason) => reason !== null) ?? null;
  });
}

function bodyFor(option: string, value: string, mayRewrite: boolean): RuleBody | string {
  switch (option) {
    case "address": {
      if (value === "") return NXDOMAIN;
      if (value === "#") return PLAIN_BLOCK;
      const address = parseIp(value);
      if (address === null) return "gives no address";
      if (isBlockAddress(address)) return PLAIN_BLOCK;
      return mayRewrite ? addressBody(address) : REASON.mayNotRewrite;
    }
    case "local":
    case "server":
      if (value === "") return NXDOMAIN;
      return value === "#" ? PLAIN_ALLOW : "forwards to a server";
    default:
      return "is an option that blocks nothing";
  }
}
