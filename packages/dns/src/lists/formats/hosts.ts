/** Files of hosts: an address and the names that have it. @see hosts(5) */
import { formatIp, parseIp, withoutZone } from "@lanthorn/packets";
import { bodyOf, PLAIN_BLOCK, type RuleBody } from "../list-rule.ts";
import { eachLine, emitName, type LineParser, type ListOptions, REASON, withoutComment } from "../line-parser.ts";

/** Names that every file of hosts begins with. They are the machine's own and no rules. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  "localhost", "localhost.localdomain", "local", "broadcasthost", "ip6-localhost", "ip6-loopback", "ip6-localnet", "ip6-mcastprefix", "ip6-allnodes",
  "ip6-allrouters", "ip6-allhosts", "0.0.0.0",
]);

/** Of records that lists answer with, where the list does not say it. */
export const LIST_TTL_SECONDS = 300;

const MAX_NAMES = 64;

/** Names with the unspecified address or one of the loopback are blocked; with another address they are answered with it. */
export function createHostsParser({ mayRewrite }: Pick<ListOptions, "mayRewrite">): LineParser {
  return eachLine((text, emit) => {
    const [first = "", ...names] = splitWords(withoutComment(text, "#"));
    if (first === "" || first.startsWith("!")) return null;
    // As `fe80::1%lo0` of a Mac's own file.
    const address = parseIp(withoutZone(first));
    if (address === null) return REASON.noAddress;
    if (names.length === 0 || names.length > MAX_NAMES) return "names no host, or too many";
    const own = names.filter((name) => !OWN_NAMES.has(name));
    if (own.length === 0) return null;
    const body = isBlockAddress(address) ? PLAIN_BLOCK : mayRewrite ? addressBody(address) : null;
    if (body === null) return REASON.mayNotRewrite;
    const reasons = own.map((name) => emitName(name, "exact", body, emit));
    return reasons.find((reason) => reason !== null) ?? null;
  });
}

/** Words between spaces and tabs. */
export function splitWords(text: string): readonly string[] {
  return text.split(/[ \t]+/).filter((word) => word !== "");
}

/** Unspecified or of the loopback: a list that gives one means that the name is not to be had. */
export function isBlockAddress(address: Uint8Array): boolean {
  if (address.length === 4) return address[0] === 127 || address.every((byte) => byte === 0);
  return address.subarray(0, 15).every((byte) => byte === 0) && (address[15] as number) <= 1;
}

/** Answers with an address, and with nothing for other types. */
export function addressBody(address: Uint8Array): RuleBody {
  const type = address.length === 4 ? 1 : 28;
  return bodyOf({ kind: "records", records: [{ type, ttlSeconds: LIST_TTL_SECONDS, data: { kind: "address", address: formatIp(address) } }] });
}
