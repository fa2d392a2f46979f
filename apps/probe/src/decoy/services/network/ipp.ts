/** A printer's IPP: what it is, and no job. @see RFC 8010 section 3, RFC 8011 */
import type { Peer, Service, Stage } from "../service.ts";
import { parseHead } from "../head-reader.ts";
import { readBasic } from "../http.ts";

const MAX_REQUEST_BYTES = 64 * 1024;
const OPERATION: Readonly<Record<number, string>> = { 2: "Print-Job", 4: "Validate-Job", 5: "Create-Job", 6: "Send-Document", 8: "Cancel-Job", 9: "Get-Job-Attributes", 10: "Get-Jobs", 11: "Get-Printer-Attributes" };
const PRINTS: ReadonlySet<number> = new Set([2, 5, 6]);
const STATUS = { ok: 0, notAuthorized: 0x0403, unsupported: 0x0501 } as const;
const TAG = { operation: 1, printer: 4, end: 3, integer: 0x21, boolean: 0x22, enumerated: 0x23, text: 0x41, name: 0x42, keyword: 0x44, uri: 0x45, charset: 0x47, language: 0x48 } as const;
const IDLE = 3;

/** Answers requests of POST one after the other. */
export const ipp: Service = (peer, stage) => {
  let held = Buffer.alloc(0);
  let hasContinued = false;
  return (bytes) => {
    held = Buffer.concat([held, bytes]);
    for (;;) {
      const end = held.indexOf("\r\n\r\n");
      if (end < 0 || held.length > MAX_REQUEST_BYTES) return held.length > MAX_REQUEST_BYTES ? peer.end() : undefined;
      const { first, headers } = parseHead(held.toString("latin1", 0, end));
      if (!hasContinued && headers.get("expect")?.toLowerCase() === "100-continue") {
        hasContinued = true;
        peer.send("HTTP/1.1 100 Continue\r\n\r\n");
      }
      const isChunked = headers.get("transfer-encoding")?.toLowerCase() === "chunked";
      const body = isChunked ? readChunks(held.subarray(end + 4)) : readPlain(held.subarray(end + 4), headers.get("content-length") ?? "0");
      if (body === "bad") return peer.end();
      if (body === null) return;
      held = held.subarray(end + 4 + body.octets);
      hasContinued = false;
      const given = readBasic(headers.get("authorization") ?? "");
      if (given) peer.tried(given.username, given.password);
      if (!first.startsWith("POST ")) return answerBrowser(peer, stage, first);
      respond(peer, stage, body.content);
    }
  };
};

/** As CUPS without its pages for browsers. */
function answerBrowser(peer: Peer, { persona }: Stage, first: string): void {
  const [method = "", path = "", version = ""] = first.split(" ");
  peer.reached("banner", "", `${method} ${path}`.trim());
  const fields = [`Date: ${peer.now().toUTCString()}`, "Accept-Encoding: gzip, deflate, identity", `Server: ${persona.ipp}`];
  const begin = `HTTP/${version === "HTTP/1.0" ? "1.0" : "1.1"}`;
  if (method === "OPTIONS") return peer.end([`${begin} 200 OK`, "Connection: close", "Allow: GET, HEAD, OPTIONS, POST", "Content-Length: 0", ...fields, "", ""].join("\r\n"));
  if (method !== "GET" && method !== "HEAD") return peer.end([`${begin} 400 Bad Request`, "Connection: close", "Content-Length: 0", ...fields, "", ""].join("\r\n"));
  const title = `Not Found - CUPS v${/CUPS\/([\d.]+)/.exec(persona.ipp)?.[1] ?? ""}.3op2`;
  const page = `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">\n<HTML>\n<HEAD>\n\t<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=utf-8">\n\t<TITLE>${title}</TITLE>\n\t<LINK REL="STYLESHEET" TYPE="text/css" HREF="/cups.css">\n</HEAD>\n<BODY>\n<H1>${title}</H1>\n<P></P>\n</BODY>\n</HTML>\n`;
  const head = [`${begin} 404 Not Found`, "Connection: close", "Content-Language: en_US", `Content-Length: ${page.length}`, "Content-Type: text/html; charset=utf-8", ...fields];
  peer.end(`${head.join("\r\n")}\r\n\r\n${method === "HEAD" ? "" : page}`);
}

type Body = { readonly content: Buffer; readonly octets: number } | "bad" | null;

function readPlain(bytes: Buffer, length: string): Body {
  const octets = Number(length);
  if (!Number.isInteger(octets) || octets < 0 || octets > MAX_REQUEST_BYTES) return "bad";
  return bytes.length < octets ? null : { content: bytes.subarray(0, octets), octets };
}

/** @see RFC 9112 section 7.1 */
function readChunks(bytes: Buffer): Body {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    if (end < 0) return null;
    const size = bytes.toString("latin1", at, end).split(";")[0]?.trim() ?? "";
    if (!/^[0-9a-f]{1,5}$/i.test(size)) return "bad";
    const octets = Number.parseInt(size, 16);
    if (bytes.length < end + 2 + octets + 2) return null;
    if (octets === 0) return { content: Buffer.concat(parts), octets: end + 4 };
    parts.push(bytes.subarray(end + 2, end + 2 + octets));
    at = end + 2 + octets + 2;
  }
}

function respond(peer: Peer, stage: Stage, request: Buffer): void {
  if (request.length < 8) return peer.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  const operation = request.readUInt16BE(2);
  const name = Object.hasOwn(OPERATION, operation) ? OPERATION[operation] ?? "" : `operation ${operation}`;
  const isKnown = operation === 10 || operation === 11;
  if (operation === 11) peer.reached("banner", "", name);
  else peer.reached(PRINTS.has(operation) ? "file" : "command", "", name);
  const head = Buffer.alloc(8);
  request.copy(head, 0, 0, 2);
  head.writeUInt16BE(isKnown ? STATUS.ok : Object.hasOwn(OPERATION, operation) ? STATUS.notAuthorized : STATUS.unsupported, 2);
  request.copy(head, 4, 4, 8);
  const parts = [head, Buffer.from([TAG.operation]), attribute(TAG.charset, "attributes-charset", "utf-8"), attribute(TAG.language, "attributes-natural-language", "en")];
  if (operation === 11) parts.push(Buffer.from([TAG.printer]), ...printer(stage));
  const body = Buffer.concat([...parts, Buffer.from([TAG.end])]);
  peer.send(Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\nServer: ${stage.persona.ipp}\r\nDate: ${peer.now().toUTCString()}\r\nContent-Type: application/ipp\r\nCache-Control: no-cache\r\nContent-Length: ${body.length}\r\n\r\n`), body,
  ]));
}

function printer({ hostname }: Stage): readonly Buffer[] {
  const number = (value: number) => Buffer.from([0, 0, 0, value]);
  return [
    attribute(TAG.uri, "printer-uri-supported", `ipp://${hostname}/ipp/print`), attribute(TAG.keyword, "uri-security-supported", "none"), attribute(TAG.keyword, "uri-authentication-supported", "basic"),
    attribute(TAG.name, "printer-name", hostname), attribute(TAG.text, "printer-make-and-model", "Laser Printer"), attribute(TAG.enumerated, "printer-state", number(IDLE)),
    attribute(TAG.keyword, "printer-state-reasons", "none"), attribute(TAG.boolean, "printer-is-accepting-jobs", Buffer.from([1])), attribute(TAG.integer, "queued-job-count", number(0)),
    attribute(TAG.keyword, "ipp-versions-supported", "1.1"), attribute(TAG.charset, "charset-configured", "utf-8"),
  ];
}

function attribute(tag: number, name: string, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string);
  const head = Buffer.alloc(3);
  head[0] = tag;
  head.writeUInt16BE(name.length, 1);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([head, Buffer.from(name), length, bytes]);
}
