/** Response policy zones as master files. @see draft-vixie-dnsop-dns-rpz sections 3 and 4, RFC 1035 section 5 */
import { DNS_TYPE } from "@lanthorn/packets";
import { LIST_TTL_SECONDS } from "../formats/hosts.ts";
import { bodyOf, type RuleBody } from "../list-rule.ts";
import { type EmitRule, type LineParser, type ListOptions, REASON } from "../line-parser.ts";
import { createMasterLines, type MasterEntry, parseTtl } from "./master-file.ts";
import { checkName, parseRecordData, parseRecordType } from "../record-text.ts";
import { parseRpzOwner } from "./rpz-owner.ts";

/** What a CNAME to a name means that is no name. */
const ACTIONS: Readonly<Record<string, RuleBody>> = {
  ".": bodyOf({ kind: "block", answer: "nxdomain" }),
  "*.": bodyOf({ kind: "block", answer: "nodata" }),
  "rpz-passthru.": bodyOf({ kind: "allow" }),
  "rpz-drop.": bodyOf({ kind: "block", answer: "drop" }),
  "rpz-tcp-only.": bodyOf({ kind: "tcp-only" }),
};

const CLASSES: ReadonlySet<string> = new Set(["IN", "CH", "HS"]);
/** SOA and NS say how the zone is kept; DS, RRSIG, NSEC, DNSKEY, NSEC3 and NSEC3PARAM that it is signed. */
const ZONE_TYPES: ReadonlySet<number> = new Set([DNS_TYPE.soa, DNS_TYPE.ns, 43, 46, 47, 48, 50, 51]);
const DNAME = 39;

/** Where in the zone the parser is. Names are in lower case, with a dot at their end. */
interface Zone {
  /** Null until something says it. */
  apex: string | null;
  /** Null is the apex. */
  origin: string | null;
  owner: string | null;
  ttlSeconds: number;
}

interface RecordWords {
  readonly owner: string;
  readonly ttlSeconds: number;
  readonly type: number;
  readonly values: readonly string[];
}

/** Local data of a name comes as one rule for each record. */
export function createRpzParser({ mayRewrite, origin }: ListOptions): LineParser {
  const lines = createMasterLines();
  const apex = origin === null ? null : absolute(origin, ".");
  const zone: Zone = { apex, origin: null, owner: null, ttlSeconds: LIST_TTL_SECONDS };
  return {
    line(text, emit) {
      const entry = lines.push(text);
      if (entry === null) return null;
      if ("reason" in entry) return entry.reason;
      if (entry.words[0]?.startsWith("$") && !entry.hasNoOwner) return readDirective(entry.words, zone);
      const record = readRecord(entry, zone);
      return typeof record === "string" ? record : emitRecord(record, zone, mayRewrite, emit);
    },
    end: () => (lines.isOpen() ? "ends within parentheses" : null),
  };
}

function readDirective([name = "", value = ""]: readonly string[], zone: Zone): string | null {
  if (name.toUpperCase() === "$TTL") {
    const ttl = parseTtl(value);
    if (ttl === null) return "gives no time to live";
    zone.ttlSeconds = ttl;
    return null;
  }
  if (name.toUpperCase() !== "$ORIGIN" || value === "") return "is a directive that is not followed";
  zone.origin = absolute(value, zone.origin ?? zone.apex ?? ".");
  zone.apex ??= zone.origin;
  return null;
}

/** A name in lower case with a dot at its end. */
function absolute(name: string, origin: string): string {
  const lower = name.toLowerCase();
  if (lower.endsWith(".")) return lower;
  return origin === "." ? `${lower}.` : `${lower}.${origin}`;
}

function readRecord({ hasNoOwner, words }: MasterEntry, zone: Zone): RecordWords | string {
  let at = 0;
  if (!hasNoOwner) zone.owner = (words[at++] ?? "").toLowerCase();
  if (zone.owner === null) return "has no owner";
  let ttlSeconds = zone.ttlSeconds;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const ttl = parseTtl(word);
    if (ttl !== null) ttlSeconds = ttl;
    else if (!CLASSES.has(word.toUpperCase())) break;
    else if (word.toUpperCase() !== "IN") return "is of another class than the Internet's";
    at += 1;
  }
  const type = parseRecordType(words[at] ?? "");
  return type === null ? "has a type that is unknown" : { owner: zone.owner, ttlSeconds, type, values: words.slice(at + 1) };
}

function emitRecord({ owner, ttlSeconds, type, values }: RecordWords, zone: Zone, mayRewrite: boolean, emit: EmitRule): string | null {
  if (type === DNS_TYPE.soa && zone.apex === null && owner.endsWith(".")) zone.apex = owner;
  if (ZONE_TYPES.has(type)) return null;
  const below = ownerBelow(owner, zone);
  if (below === null) return "lies outside of the zone";
  if (below === "" || type === DNAME) return "is no trigger";
  const trigger = parseRpzOwner(below);
  if (typeof trigger === "string") return trigger;
  const action = type === DNS_TYPE.cname ? actionOf(values[0] ?? "", below) : null;
  if (typeof action === "string") return action;
  if (action !== null) {
    emit({ ...trigger, body: action });
    return null;
  }
  if (!mayRewrite) return REASON.mayNotRewrite;
  const data = parseRecordData(type, values, (text) => checkName(text === "@" ? zone.apex ?? "." : absolute(text, zone.origin ?? zone.apex ?? ".")));
  if (data === null) return "has data that cannot be read";
  emit({ ...trigger, body: bodyOf({ kind: "records", records: [{ type, ttlSeconds, data }] }) });
  return null;
}

/** What a CNAME's target means; null is local data. A CNAME to the trigger itself is an exception in old zones. */
function actionOf(target: string, below: string): RuleBody | string | null {
  const lower = target.toLowerCase();
  if (Object.hasOwn(ACTIONS, lower)) return ACTIONS[lower] as RuleBody;
  if (lower === `${below}.`) return ACTIONS["rpz-passthru."] as RuleBody;
  return lower.startsWith("rpz-") && lower.indexOf(".") === lower.length - 1 ? "has an action that is unknown" : null;
}

/** The owner without the zone's name; empty at the apex, null outside of the zone. */
function ownerBelow(owner: string, { apex, origin }: Zone): string | null {
  if (origin === null && !owner.endsWith(".")) return owner === "@" ? "" : owner;
  const full = owner === "@" ? (origin ?? "") : absolute(owner, origin ?? ".");
  if (apex === null || full === apex) return full === apex ? "" : null;
  return full.endsWith(`.${apex}`) ? full.slice(0, -apex.length - 1) : null;
}
