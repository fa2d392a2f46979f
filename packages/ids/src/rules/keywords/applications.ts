/** Keywords about the application's protocol that are neither a buffer nor a number. */

import type { ApplicationCondition, EventCondition, FactCondition, WordCondition } from "../condition.ts";
import { needApplications } from "../draft.ts";
import { parseProtocol } from "../header/protocols.ts";
import { lookUp } from "../text/look-up.ts";
import { parseNumberTest } from "../text/numbers.ts";
import { readQuoted, splitWords } from "../text/options.ts";
import type { Keyword } from "./keyword.ts";

type WordRow = readonly [field: WordCondition["field"], applications: string, allowed: RegExp];

const TLS_VERSION = /^(?:ssl ?v?[23]|tls ?v?1(?:\.[0-3])?|1\.[0-3]|0x[0-9a-f]{4})$/i;

/** Keywords with words of a list → the list, as one word may be. */
const WORDS: Readonly<Record<string, WordRow>> = {
  "tls.version": ["tls.version", "tls", TLS_VERSION],
  "ssl_version": ["ssl.version", "tls", /^(?:sslv2|sslv3|tls1\.[0-3])$/i],
  "ssl_state": ["ssl.state", "tls", /^(?:client_hello|server_hello|client_keyx|server_keyx|unknown)$/i],
  "ftpdata_command": ["ftp.data-command", "ftp ftp-data", /^(?:retr|stor)$/i],
  "smb.version": ["smb.version", "smb", /^[12]$/],
  "dce_iface": ["dcerpc.interface", "dcerpc smb", /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^[<>=!]\d{1,5}$|^any_frag$/i],
  "dcerpc.iface": ["dcerpc.interface", "dcerpc smb", /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^[<>=!]\d{1,5}$|^any_frag$/i],
  "mqtt.flags": ["mqtt.flags", "mqtt", /^!?(?:dup|retain)$/], "mqtt.connect.flags": ["mqtt.connect-flags", "mqtt", /^!?(?:username|password|will|will_retain|clean_session)$/],
  "mqtt.connack.session_present": ["mqtt.connack-session-present", "mqtt", /^(?:yes|no|true|false)$/],
  "websocket.flags": ["websocket.flags", "websocket", /^(?:!?(?:fin|comp)|&?0x[0-9a-f]{1,2}(?:!?=(?:0x[0-9a-f]{1,2}|\d{1,3}))?)$/],
  "krb5.ticket_encryption": ["krb5.ticket-encryption", "krb5", /^-?\d{1,3}$|^[a-z0-9_-]{1,40}$/i],
  "rpc": ["rpc", "", /^(?:\d{1,10}|\*)$/],
};

function wordKeyword([field, applications, allowed]: WordRow): Keyword {
  return (draft, value) => {
    const quoted = readQuoted(value);
    const words = (quoted?.text ?? "").split(/[,|]/).map((word) => word.trim());
    const wrong = words.find((word) => !allowed.test(word));
    if (!quoted || wrong !== undefined) return `cannot read ${value}`;
    draft.conditions.push({ kind: "word", field, words: words.map((word) => word.toLowerCase()), isNegated: quoted.isNegated });
    return needApplications(draft, applications === "" ? [] : applications.split(" "));
  };
}

function eventKeyword(layer: EventCondition["layer"]): Keyword {
  return (draft, value) => {
    const dot = value.indexOf(".");
    if (!/^[\w.-]{1,100}$/.test(value)) return `cannot read ${value}`;
    draft.conditions.push({ kind: "event", layer, event: value });
    const protocol = layer === "application" && dot > 0 ? parseProtocol(value.slice(0, dot)) : null;
    return needApplications(draft, protocol?.applications ?? []);
  };
}

const SIDES: Readonly<Record<string, ApplicationCondition["side"]>> = {
  final: "final", either: "either", original: "original", to_server: "to-server", to_client: "to-client", direction: "direction",
};

const applicationProtocol: Keyword = (draft, value) => {
  const quoted = readQuoted(value);
  const [name = "", sideText = "direction", extra] = splitWords(quoted?.text ?? "");
  const side = lookUp(SIDES, sideText);
  if (!quoted || !side || extra !== undefined) return `cannot read ${value}`;
  const isKnown = name === "failed" || name === "unknown" || Boolean(parseProtocol(name)?.applications);
  if (!isKnown) return `unknown protocol ${name}`;
  if (draft.header.protocol.applications) return "the header names a protocol of the application";
  draft.conditions.push({ kind: "application", application: name.toLowerCase(), isNegated: quoted.isNegated, side });
  return null;
};

function fact(name: FactCondition["fact"], applications: readonly string[], isNegated = false): Keyword {
  return (draft) => {
    draft.conditions.push({ kind: "fact", fact: name, isNegated });
    return needApplications(draft, applications);
  };
}

/** Instants of certificates: a year, down to a second. */
const INSTANT = /^\d{4}(?:-\d{2}(?:-\d{2}(?:[T ]\d{2}(?::\d{2}(?::\d{2})?)?)?)?)?$/;

function secondsOf(text: string): number | null {
  if (!INSTANT.test(text)) return null;
  const milliseconds = Date.parse(`${text.replace(" ", "T")}${"2000-01-01T00:00:00".slice(text.length)}Z`);
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}

function certificateTime(field: "not-before" | "not-after"): Keyword {
  return (draft, value) => {
    const [, operator = "=", first = "", second] = /^([<>]=?)?\s*([\dT:-]{4,19})\s*(?:<>\s*([\dT:-]{4,19}))?$/.exec(value.replaceAll(/\s+/g, " ")) ?? [];
    const [low, high] = [secondsOf(first), second === undefined ? null : secondsOf(second)];
    const test = low === null || (second !== undefined && high === null) ? null : parseNumberTest(second === undefined ? `${operator}${low}` : `${low}<>${high}`, 64);
    if (!test) return `cannot read ${value}`;
    draft.conditions.push({ kind: "tls-time", field, test });
    return needApplications(draft, ["tls"]);
  };
}

const dceOperation: Keyword = (draft, value) => {
  const words = splitWords(value).map((word) => /^\d{1,5}(?:-\d{1,5})?$/.test(word));
  if (words.includes(false)) return `cannot read ${value}`;
  draft.conditions.push({ kind: "word", field: "dcerpc.operation", words: splitWords(value), isNegated: false });
  return needApplications(draft, ["dcerpc", "smb"]);
};

/** Keywords of the application's protocol. */
export const APPLICATION_KEYWORDS: Readonly<Record<string, Keyword>> = {
  ...Object.fromEntries(Object.entries(WORDS).map(([name, row]) => [name, wordKeyword(row)])),
  "app-layer-event": eventKeyword("application"), "decode-event": eventKeyword("decoder"), "stream-event": eventKeyword("stream"), "engine-event": eventKeyword("engine"),
  "app-layer-protocol": applicationProtocol,
  "ftpbounce": fact("ftp-bounce", ["ftp"]), "tls_cert_expired": fact("tls.cert-expired", ["tls"]), "tls_cert_valid": fact("tls.cert-valid", ["tls"]),
  "tls_cert_notbefore": certificateTime("not-before"), "tls_cert_notafter": certificateTime("not-after"),
  "dce_opnum": dceOperation, "dcerpc.opnum": dceOperation,
};
