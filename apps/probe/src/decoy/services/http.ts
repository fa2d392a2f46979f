/** A login page: it asks for credentials by a form and by Basic, and accepts none. @see RFC 9110, RFC 9112, RFC 7617 */
import { parseHead } from "./head-reader.ts";
import { type Peer, REFUSAL_MS, type Service, type Stage, withName } from "./service.ts";

/** A request that is whole. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** The same as it came. */
  readonly bytes: Uint8Array;
}

const MAX_HEAD_BYTES = 16 * 1024;
const MAX_BODY_BYTES = 64 * 1024;
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "TRACE"]);
/** Fields of login forms. */
const NAMES = ["username", "user", "login", "email", "name"] as const;
const PASSWORDS = ["password", "passwd", "pass", "pwd"] as const;

/** Serves the persona's page. */
export const http: Service = (peer, stage) => createRequestReader((request, next) => answer(peer, stage, request, next), () => respond(peer, stage, { status: "400 Bad Request", isLast: true, body: "<h1>Bad Request</h1>" }));

/** The same within TLS. */
export const https: Service = (peer, stage) => {
  peer.startTls();
  return http(peer, stage);
};

/** Reads requests one after the other. @param onRequest It calls `next` when it has answered, for the next one to be read. @returns What takes the bytes. */
export function createRequestReader(onRequest: (request: HttpRequest, next: () => void) => void, onBad: () => void): (bytes: Buffer) => void {
  let held = Buffer.alloc(0);
  let [isBusy, isTaking] = [false, false];
  const takeAll = () => {
    while (!isBusy) {
      const request = readRequest(held);
      if (request === null) return;
      if (request === "bad") return onBad();
      held = held.subarray(request.octets);
      isBusy = true;
      onRequest(request.value, () => {
        isBusy = false;
        take();
      });
    }
  };
  /** What is answered at once goes on in the loop that is there: thousands of requests may come together. */
  const take = () => {
    if (isTaking) return;
    isTaking = true;
    takeAll();
    isTaking = false;
  };
  return (bytes) => {
    held = Buffer.concat([held, bytes]);
    take();
  };
}

/** @returns Null while it is not whole. */
function readRequest(bytes: Buffer): { readonly value: HttpRequest; readonly octets: number } | "bad" | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return bytes.length > MAX_HEAD_BYTES ? "bad" : null;
  const { first, headers } = parseHead(bytes.toString("latin1", 0, end));
  const [method = "", path = "", version = ""] = first.split(" ");
  if (!METHODS.has(method) || !version.startsWith("HTTP/1.") || !path.startsWith("/")) return "bad";
  const octets = Number(headers.get("content-length") ?? 0);
  if (!Number.isInteger(octets) || octets < 0 || octets > MAX_BODY_BYTES) return "bad";
  const whole = end + 4 + octets;
  return bytes.length < whole ? null : { value: { method, path, headers, body: bytes.toString("utf8", end + 4, whole), bytes: bytes.subarray(end + 4, whole) }, octets: whole };
}

function answer(peer: Peer, stage: Stage, request: HttpRequest, next: () => void): void {
  const { method, headers } = request;
  const path = request.path.split("?")[0] ?? "";
  const loginPath = stage.persona.http.path;
  const isHead = method === "HEAD";
  const isLast = headers.get("connection")?.toLowerCase() === "close";
  const finish = (status: string, body: string, fields: readonly string[] = []) => {
    respond(peer, stage, { status, body, fields, isLast, isHead });
    if (!isLast) next();
  };
  const agent = headers.get("user-agent");
  if (agent !== undefined) peer.isProgram("software", agent);
  const given = readBasic(headers.get("authorization") ?? "") ?? (method === "POST" ? readForm(request.body) : null);
  if (given) {
    peer.tried(given.username, given.password);
    return peer.later(REFUSAL_MS, () => finish("401 Unauthorized", page(stage, "Wrong user name or password.")));
  }
  if (method === "PUT" || method === "PATCH") keepFile(peer, stage, request);
  else peer.reached("banner", "", `${method} ${request.path} ${headers.get("user-agent") ?? ""}`.trim());
  // Apache answers it for what it serves.
  if (method === "OPTIONS" && stage.persona.http.server.startsWith("Apache")) return finish("200 OK", "", ["Allow: GET,POST,OPTIONS,HEAD"]);
  if (method !== "GET" && method !== "HEAD" && method !== "POST") return finish("405 Method Not Allowed", "<h1>Method Not Allowed</h1>", ["Allow: GET, HEAD, POST"]);
  if (path === "/") return finish("302 Found", "", [`Location: ${loginPath}`]);
  finish(path === loginPath ? "200 OK" : "404 Not Found", path === loginPath ? page(stage, "") : "<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>");
}

function keepFile(peer: Peer, { files }: Stage, { method, path, bytes }: HttpRequest): void {
  const file = files.begin(peer.address);
  file?.add(bytes);
  const kept = file?.end();
  if (kept) peer.gave(kept, path);
  else peer.reached("file", "", `${method} ${path}`);
}

function respond(peer: Peer, stage: Stage, given: { readonly status: string; readonly body: string; readonly fields?: readonly string[]; readonly isLast: boolean; readonly isHead?: boolean }): void {
  const head = [
    `HTTP/1.1 ${given.status}`, `Date: ${peer.now().toUTCString()}`, `Server: ${stage.persona.http.server}`, ...(given.fields ?? []), `Content-Length: ${Buffer.byteLength(given.body)}`,
    `Connection: ${given.isLast ? "close" : "keep-alive"}`, "Content-Type: text/html; charset=utf-8",
  ];
  const text = `${head.join("\r\n")}\r\n\r\n${given.isHead ? "" : given.body}`;
  if (given.isLast) peer.end(text);
  else peer.send(text);
}

function page(stage: Stage, problem: string): string {
  const title = withName(stage.persona.http.title, stage);
  const field = (name: string, type: string, label: string) => `<p><label>${label}<br><input name="${name}" type="${type}"></label></p>`;
  return `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1>${problem === "" ? "" : `<p>${problem}</p>`}`
    + `<form method="post" action="${stage.persona.http.path}">${field("username", "text", "User name")}${field("password", "password", "Password")}<p><button>Sign in</button></p></form></body></html>\n`;
}

/** @returns What credentials of the scheme Basic have; null for others. @see RFC 7617 */
export function readBasic(field: string): { readonly username: string; readonly password: string } | null {
  const [scheme = "", value = ""] = field.split(" ");
  if (scheme.toLowerCase() !== "basic") return null;
  const text = Buffer.from(value, "base64").toString("utf8");
  const at = text.indexOf(":");
  return at < 0 ? null : { username: text.slice(0, at), password: text.slice(at + 1) };
}

/** @returns Null for a form without a password. */
function readForm(body: string): { readonly username: string; readonly password: string } | null {
  const form = new URLSearchParams(body);
  const find = (names: readonly string[]) => names.map((name) => form.get(name)).find((value) => value !== null) ?? null;
  const password = find(PASSWORDS);
  return password === null ? null : { username: find(NAMES) ?? "", password };
}
