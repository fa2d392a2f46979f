/** Rules of adblock lists, as far as they name hosts. @see https://adguard-dns.io/kb/general/dns-filtering-syntax/ */
import { type ListRule, PLAIN_ALLOW, PLAIN_BLOCK, type RuleBody, type RuleScope } from "../list-rule.ts";
import { parseModifiers } from "./adblock-modifiers.ts";
import { createHostsParser } from "./hosts.ts";
import { eachLine, type EmitRule, emitName, type LineParser, type ListOptions, REASON } from "../line-parser.ts";
import { countLabels, parseHostName } from "../../names/name-key.ts";

/** `||d^` with its modifiers, `@@` before it, a name alone, and lines of a file of hosts. Patterns that are no whole names are refused. */
export function createAdblockParser(options: Pick<ListOptions, "mayRewrite">): LineParser {
  const hosts = createHostsParser(options);
  return eachLine((text, emit) => {
    const line = text.trim();
    if (line === "" || line.startsWith("!") || line.startsWith("[")) return null;
    if (line.startsWith("#") && !line.startsWith("##") && !line.startsWith("#@") && !line.startsWith("#?")) return null;
    if (line.includes("##") || line.includes("#@#") || line.includes("#?#") || line.includes("#$#")) return "hides parts of pages";
    if (beginsWithAddress(line)) return hosts.line(line, emit);
    return readRule(line, options, emit);
  });
}

/** A line of a file of hosts: its first word is followed by space, and no modifier may bring some. */
function beginsWithAddress(line: string): boolean {
  const space = line.search(/[ \t]/);
  return space > 0 && !line.slice(0, space).includes("$");
}

function readRule(line: string, options: Pick<ListOptions, "mayRewrite">, emit: EmitRule): string | null {
  const isException = line.startsWith("@@");
  const rule = isException ? line.slice(2) : line;
  if (rule.startsWith("/")) return "is a regular expression or a path";
  const dollar = rule.indexOf("$");
  const pattern = dollar < 0 ? rule : rule.slice(0, dollar);
  const body = dollar < 0 ? (isException ? PLAIN_ALLOW : PLAIN_BLOCK) : parseModifiers(rule.slice(dollar + 1), isException, options.mayRewrite);
  if (typeof body === "string") return body;
  // A rule of modifiers alone is for every name.
  if (pattern === "" || pattern === "*") return emitEvery(body, emit);
  const found = readPattern(pattern);
  if (found === null) return "is no pattern of one host's names";
  return emitName(found.name, found.scope, body, emit);
}

/** Such a rule must say which names it spares or which types it wants; all names blocked is a mistake. */
function emitEvery(body: RuleBody, emit: EmitRule): string | null {
  const { conditions } = body;
  if (!conditions || (conditions.types.length === 0 && conditions.clients.length === 0)) return REASON.noName;
  emit({ trigger: "qname", key: new Uint8Array(0), scope: "both", body } satisfies ListRule);
  return null;
}

function readPattern(pattern: string): { readonly name: string; readonly scope: RuleScope } | null {
  const isDomain = pattern.startsWith("||");
  const isStart = !isDomain && pattern.startsWith("|");
  let name = pattern.slice(isDomain ? 2 : isStart ? 1 : 0);
  if (name.endsWith("|")) name = name.slice(0, -1);
  if (name.endsWith("^")) name = name.slice(0, -1);
  if (isDomain && name.startsWith("*.")) return parseHostName(name.slice(2)) && { name: name.slice(2), scope: "subdomains" };
  const key = parseHostName(name);
  // A word without any sign is a part of a URL, unless it is a whole name.
  const isWhole = isDomain || isStart || (key !== null && countLabels(key) > 1);
  return key && isWhole ? { name, scope: isDomain ? "both" : "exact" } : null;
}
