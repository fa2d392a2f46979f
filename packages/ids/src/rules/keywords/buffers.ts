/** Sticky buffers, their other names, the old modifiers, and what asks for a whole buffer. */

import { BUFFER_FACTS, type BufferName } from "../buffer-names.ts";
import { activeGroup, addContent, addMatch, closeSticky, groupOf, needApplications, type RuleDraft } from "../draft.ts";
import { lookUp } from "../text/look-up.ts";
import { parseNumber, parseNumberTest } from "../text/numbers.ts";
import { readQuoted, splitWords } from "../text/options.ts";
import { bufferModifier, parseContentBytes } from "./contents.ts";
import type { Keyword } from "./keyword.ts";

/** Other names of sticky buffers, most of them older. */
const ALIASES: Readonly<Record<string, BufferName>> = {
  "file_data": "file.data", "dns_query": "dns.query", "dns.query.name": "dns.queries.rrname", "dns.answer.name": "dns.answers.rrname",
  "tls_sni": "tls.sni", "tls_cert_subject": "tls.cert_subject", "tls_cert_issuer": "tls.cert_issuer", "tls_cert_serial": "tls.cert_serial", "tls_cert_fingerprint": "tls.cert_fingerprint",
  "ja3_hash": "ja3.hash", "ja3_string": "ja3.string", "ja3s_hash": "ja3s.hash", "ja3s_string": "ja3s.string", "ja4_hash": "ja4.hash",
  "ssh_proto": "ssh.proto", "ssh_software": "ssh.software",
  "http_accept": "http.accept", "http_accept_enc": "http.accept_enc", "http_accept_lang": "http.accept_lang", "http_connection": "http.connection",
  "http_content_len": "http.content_len", "http_content_type": "http.content_type", "http_header_names": "http.header_names", "http_protocol": "http.protocol",
  "http_referer": "http.referer", "http_request_line": "http.request_line", "http_response_line": "http.response_line", "http_start": "http.start",
  "dce_stub_data": "dcerpc.stub_data", "dnp3_data": "dnp3.data", "krb5_cname": "krb5.cname", "krb5_sname": "krb5.sname", "smb_named_pipe": "smb.named_pipe", "smb_share": "smb.share",
  "sip_method": "sip.method", "sip_uri": "sip.uri", "http2_header_name": "http2.header_name",
};

/** Modifiers of the content before them. */
const MODIFIERS: Readonly<Record<string, BufferName>> = {
  http_uri: "http.uri", http_raw_uri: "http.uri.raw", http_method: "http.method", http_header: "http.header", http_raw_header: "http.header.raw", http_cookie: "http.cookie",
  http_user_agent: "http.user_agent", http_host: "http.host", http_raw_host: "http.host.raw", http_client_body: "http.request_body", http_server_body: "http.response_body",
  http_stat_code: "http.stat_code", http_stat_msg: "http.stat_msg",
};

function sticky(buffer: BufferName): Keyword {
  const applications = BUFFER_FACTS.get(buffer)?.applications ?? [];
  return (draft, value) => {
    if (value !== "") return "a sticky buffer has no value";
    const open = closeSticky(draft);
    if (open !== null) return open;
    draft.sticky = buffer === "payload" ? null : { buffer, transforms: [], group: null };
    draft.lastContent = null;
    return needApplications(draft, applications);
  };
}

/** `quic.version` and the like are sticky; `pkt_data` goes back to the payload. */
const STICKY: Readonly<Record<string, Keyword>> = {
  ...Object.fromEntries([...BUFFER_FACTS.values()].filter(({ name }) => name !== "payload" && name !== "base64_data").map(({ name }) => [name, sticky(name)])),
  ...Object.fromEntries(Object.entries(ALIASES).map(([alias, name]) => [alias, sticky(name)])),
  "pkt_data": sticky("payload"), "base64_data": sticky("base64_data"),
};

const bufferSize: Keyword = (draft, value) => {
  if (!draft.sticky) return "no sticky buffer is before it";
  const test = parseNumberTest(value, 64);
  if (!test) return `cannot read ${value}`;
  const most = test.operator === "=" || test.operator === "<=" ? test.value : test.operator === "<" ? test.value - 1 : test.operator === "between" ? test.high - 1 : Number.POSITIVE_INFINITY;
  const long = activeGroup(draft, false).matches.find((match) => match.kind === "content" && !match.isNegated && match.bytes.length > most);
  if (long) return "a content before it is longer";
  addMatch(draft, { kind: "size", test });
  return null;
};

/** The raw URI is meant where the rule does not say. */
const uriLength: Keyword = (draft, value) => {
  const [text = "", form = "raw", extra] = splitWords(value);
  const test = parseNumberTest(text, 16);
  if (!test || (form !== "raw" && form !== "norm") || extra !== undefined) return `cannot read ${value}`;
  groupOf(draft, form === "raw" ? "http.uri.raw" : "http.uri").matches.push({ kind: "size", test });
  return needApplications(draft, ["http", "http2"]);
};

const absent: Keyword = (draft, value) => {
  if (!draft.sticky) return "no sticky buffer is before it";
  if (value !== "" && value !== "or_else") return `cannot read ${value}`;
  if (draft.sticky.group) return "something is asked of the buffer before it";
  addMatch(draft, { kind: "absent", orElse: value === "or_else" });
  return null;
};

const base64Decode: Keyword = (draft, value) => {
  let [bytes, offset, isRelative] = [0, 0, false];
  for (const word of value === "" ? [] : splitWords(value)) {
    const found = /^(bytes|offset)\s+(\d{1,10})$/.exec(word);
    const number = parseNumber(found?.[2] ?? "", 0xffff_ffff);
    if (word === "relative") isRelative = true;
    else if (number === null) return `cannot read ${word}`;
    else if (found?.[1] === "bytes") bytes = number;
    else offset = number;
  }
  addMatch(draft, { kind: "base64-decode", bytes, offset, isRelative }, isRelative);
  return null;
};

const ENTROPY_OPERATORS = { "=": "=", "!=": "!=", "!": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=" } as const;

const entropy: Keyword = (draft, value) => {
  const words = splitWords(value).map((word) => /^(bytes|offset|value)\s+(.*)$/.exec(word) ?? [word, "value", word]);
  const place = (name: string) => parseNumber(words.find(([, key]) => key === name)?.[2] ?? "0", 0xffff_ffff);
  const found = /^([<>]=?|!=?|=)?\s{0,16}(\d{1,2}(?:\.\d{1,20})?)$/.exec(words.find(([, key]) => key === "value")?.[2]?.trim() ?? "");
  const number = Number(found?.[2] ?? Number.NaN);
  const [bytes, offset] = [place("bytes"), place("offset")];
  if (!(number <= 8) || bytes === null || offset === null || words.length > 3) return `cannot read ${value}`;
  const operator = lookUp<(typeof ENTROPY_OPERATORS)[keyof typeof ENTROPY_OPERATORS]>(ENTROPY_OPERATORS, found?.[1] ?? "=") ?? "=";
  addMatch(draft, { kind: "entropy", offset, bytes, operator, value: number });
  return null;
};

/** A keyword whose value is a content of one buffer: the names of certificates and files of older rules. */
function valued(buffer: BufferName, form: { readonly ignoreCase?: boolean; readonly isWhole?: boolean; readonly endsWith?: boolean; readonly prefix?: string } = {}): Keyword {
  return (draft: RuleDraft, value) => {
    const quoted = readQuoted(value);
    const bytes = quoted ? draft.settings.shared.bytes(`${form.prefix ?? ""}${quoted.text}`, parseContentBytes) : "its quotes are not closed";
    if (!quoted || typeof bytes === "string") return typeof bytes === "string" ? bytes : "it is empty";
    addContent(draft, bytes, { buffer, isNegated: quoted.isNegated, ignoreCase: form.ignoreCase ?? false, isWhole: form.isWhole ?? false, endsWith: form.endsWith ?? false });
    return needApplications(draft, BUFFER_FACTS.get(buffer)?.applications ?? []);
  };
}

/** Keywords of buffers. */
export const BUFFER_KEYWORDS: Readonly<Record<string, Keyword>> = {
  ...STICKY,
  ...Object.fromEntries(Object.entries(MODIFIERS).map(([name, buffer]) => [name, bufferModifier(buffer)])),
  "bsize": bufferSize, "urilen": uriLength, "absent": absent, "base64_decode": base64Decode, "entropy": entropy,
  "tls.subject": valued("tls.cert_subject"), "tls.issuerdn": valued("tls.cert_issuer"), "tls.fingerprint": valued("tls.cert_fingerprint", { isWhole: true, endsWith: true }),
  "ssh.softwareversion": valued("ssh.software"), "ssh.protoversion": valued("ssh.proto"),
  "filename": valued("file.name", { ignoreCase: true }), "fileext": valued("file.name", { ignoreCase: true, endsWith: true, prefix: "." }),
};
