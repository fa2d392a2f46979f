/** A telephone exchange that lets nobody register. @see RFC 3261 sections 8.2, 22.4; RFC 2617 section 3.2 */
import { createHash, createHmac } from "node:crypto";
import type { Caller, DatagramService } from "./service.ts";

interface SipRequest {
  readonly method: string;
  readonly uri: string;
  /** By names in lower case, short ones in their long form; each in the order in which they came. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

const SHORT_NAMES: Readonly<Record<string, string>> = { v: "via", f: "from", t: "to", i: "call-id", l: "content-length", m: "contact" };
const LONG_NAMES: ReadonlyMap<string, string> = new Map(Object.entries(SHORT_NAMES).map(([short, long]) => [long, short]));
const MAX_HEADERS = 64;
const METHODS = "INVITE, ACK, CANCEL, OPTIONS, BYE, REFER, SUBSCRIBE, NOTIFY, INFO, PUBLISH, MESSAGE";
const REALM = "asterisk";
/** What a caller's own proof of who it is names. */
const DIGEST_FIELD = /(\w{1,16})=(?:"([^"]{0,512})"|([^\s,"]{1,512}))/g;
/** Half a minute: each answer of its has another. */
const NONCE_MS = 32_000;

/** Answers OPTIONS, and wants a password for all else. */
export const sip: DatagramService = (stage) => {
  const key = stage.derive("sip", 32);
  const server = stage.persona.sip;
  return (datagram, caller) => {
    const request = readRequest(datagram);
    if (!request || request.method === "ACK") return;
    const { method, uri, headers } = request;
    const agent = headers.get("user-agent")?.[0] ?? "";
    const answer = (status: string, needed: readonly string[] = []) => respond(caller, request, { status, tag: tagOf(key, request), needed, fields: [`Server: ${server}`, `Allow: ${METHODS}`, "Supported: replaces, timer"] });
    const proof = readDigest(headers.get("authorization")?.[0] ?? headers.get("proxy-authorization")?.[0] ?? "");
    if (proof) {
      caller.tried(proof.username, (password) => isProofOf(proof, method, password));
      return answer("403 Forbidden");
    }
    if (method === "OPTIONS") {
      caller.reached("banner", "", `OPTIONS ${uri} ${agent}`.trim());
      return answer("200 OK");
    }
    if (method === "CANCEL" || method === "BYE") return answer("481 Call leg/transaction does not exist");
    if (method === "INVITE") caller.reached("command", "", `called ${uri} ${agent}`.trim());
    else caller.reached("banner", "", `${method} ${uri} ${agent}`.trim());
    answer("401 Unauthorized", [`WWW-Authenticate: Digest algorithm=MD5, realm="${REALM}", nonce="${nonceOf(key, caller)}"`]);
  };
};

/** @returns Null for what is no request. */
function readRequest(datagram: Buffer): SipRequest | null {
  const text = datagram.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = (end < 0 ? text : text.slice(0, end)).split("\r\n");
  const [method = "", uri = "", version] = first.split(" ");
  if (version !== "SIP/2.0" || !/^[A-Z]{3,16}$/.test(method)) return null;
  const headers = new Map<string, string[]>();
  for (const line of lines.slice(0, MAX_HEADERS)) {
    const at = line.indexOf(":");
    if (at < 1) continue;
    const given = line.slice(0, at).trim().toLowerCase();
    const name = Object.hasOwn(SHORT_NAMES, given) ? SHORT_NAMES[given] ?? given : given;
    headers.set(name, [...headers.get(name) ?? [], line.slice(at + 1).trim()]);
  }
  return ["via", "from", "to", "call-id", "cseq"].every((name) => headers.has(name)) ? { method, uri, headers } : null;
}

/** Sends what has to be said, and of `fields` those that there is room for. */
function respond(caller: Caller, { headers }: SipRequest, { status, tag, needed, fields }: { readonly status: string; readonly tag: string; readonly needed: readonly string[]; readonly fields: readonly string[] }): void {
  const copy = (label: string) => (headers.get(label.toLowerCase()) ?? []).map((value) => `${label}: ${value}`);
  const to = headers.get("to")?.[0] ?? "";
  const head = [
    `SIP/2.0 ${status}`, ...(headers.get("via") ?? []).map((via) => `Via: ${withReceived(via, caller)}`), ...copy("From"), `To: ${to}${/;\s*tag=/i.test(to) ? "" : `;tag=${tag}`}`, ...copy("Call-ID"), ...copy("CSeq"), ...needed,
  ];
  const whole = (lines: readonly string[]) => `${lines.join("\r\n")}\r\nContent-Length: 0\r\n\r\n`;
  const isTight = whole(head).length > caller.room;
  const toText = (lines: readonly string[]) => (isTight ? shorten(whole(lines)) : whole(lines));
  let lines = head;
  for (const field of fields) if (toText([...lines, field]).length <= caller.room) lines = [...lines, field];
  caller.answer(Buffer.from(toText(lines), "latin1"));
}

/** @see RFC 3261 section 7.3.3 */
function shorten(text: string): string {
  return text.replaceAll(/^(via|from|to|call-id|content-length): /gim, (_, name: string) => `${LONG_NAMES.get(name.toLowerCase()) ?? name}: `);
}

/** @see RFC 3581 section 4 */
function withReceived(via: string, { address, port }: Caller): string {
  return /;rport(?=;|$)/i.test(via) ? via.replace(/;rport(?=;|$)/i, `;received=${address};rport=${port}`) : via;
}

function tagOf(key: Buffer, { headers }: SipRequest): string {
  return `as${createHmac("sha256", key).update(`${headers.get("call-id")?.[0]} ${headers.get("from")?.[0]}`).digest("hex").slice(0, 8)}`;
}

function nonceOf(key: Buffer, { address, now }: Caller): string {
  return createHmac("sha256", key).update(`nonce ${address} ${Math.floor(now().getTime() / NONCE_MS)}`).digest("hex").slice(0, 8);
}

type DigestFields = Readonly<Record<"username" | "realm" | "nonce" | "uri" | "response" | "qop" | "nc" | "cnonce", string>>;

function readDigest(field: string): DigestFields | null {
  if (!/^digest\s/i.test(field)) return null;
  const found = new Map([...field.slice(6, 4096).matchAll(DIGEST_FIELD)].map(([, name = "", quoted, plain]) => [name.toLowerCase(), quoted ?? plain ?? ""]));
  const of = (name: string) => found.get(name) ?? "";
  if (!found.has("username") || !found.has("response")) return null;
  return { username: of("username"), realm: of("realm"), nonce: of("nonce"), uri: of("uri"), response: of("response").toLowerCase(), qop: of("qop"), nc: of("nc"), cnonce: of("cnonce") };
}

function isProofOf({ username, realm, nonce, uri, response, qop, nc, cnonce }: DigestFields, method: string, password: string): boolean {
  const md5 = (text: string) => createHash("md5").update(text).digest("hex");
  const middle = qop === "" ? nonce : [nonce, nc, cnonce, qop].join(":");
  return md5(`${md5(`${username}:${realm}:${password}`)}:${middle}:${md5(`${method}:${uri}`)}`) === response;
}
