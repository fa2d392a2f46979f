/** Remote management of Windows up to the password. @see MS-WSMV section 2.2.9.1, RFC 4559 */
import { createRequestReader, type HttpRequest, readBasic } from "../http.ts";
import { type Peer, REFUSAL_MS, type Service } from "../service.ts";
import { createNtlmExchange, findNtlm, type NtlmExchange } from "./ntlm.ts";
import { encodeSpnegoChallenge } from "./spnego.ts";

const SERVER = "Microsoft-HTTPAPI/2.0";
const NOT_FOUND = `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN""http://www.w3.org/TR/html4/strict.dtd">\r\n<HTML><HEAD><TITLE>Not Found</TITLE>\r\n<META HTTP-EQUIV="Content-Type" Content="text/html; charset=us-ascii"></HEAD>\r\n<BODY><h2>Not Found</h2>\r\n<hr><p>HTTP Error 404. The requested resource is not found.</p>\r\n</BODY></HTML>\r\n`;
const OFFERS = ["WWW-Authenticate: Negotiate", "WWW-Authenticate: Basic realm=\"WSMAN\""];

/** Asks for a name by Negotiate or Basic, and refuses it. */
export const winrm: Service = (peer, stage) => {
  let exchange: NtlmExchange | null = null;
  return createRequestReader((request, next) => {
    if (request.path.split("?")[0] !== "/wsman") {
      peer.reached("banner", "", `${request.method} ${request.path} ${request.headers.get("user-agent") ?? ""}`.trim());
      respond(peer, "404 Not Found", ["Content-Type: text/html; charset=us-ascii"], request.method === "HEAD" ? "" : NOT_FOUND);
      return next();
    }
    exchange ??= createNtlmExchange(stage, peer);
    answer(peer, exchange, request, next);
  }, () => peer.end(toText(peer, "400 Bad Request", ["Connection: close"], "")));
};

function answer(peer: Peer, exchange: NtlmExchange, request: HttpRequest, next: () => void): void {
  const field = request.headers.get("authorization") ?? "";
  const refuse = () => {
    respond(peer, "401 ", OFFERS, "");
    next();
  };
  const basic = readBasic(field);
  if (basic) {
    peer.tried(basic.username, basic.password);
    return peer.later(REFUSAL_MS, refuse);
  }
  const [scheme = "", value = ""] = field.split(" ");
  const token = /^(?:negotiate|ntlm)$/i.test(scheme) ? Buffer.from(value, "base64") : null;
  const ntlm = token && findNtlm(token);
  const read = ntlm && exchange.read(ntlm);
  if (!read) {
    peer.reached("banner", "", `${request.method} ${request.path} ${request.headers.get("user-agent") ?? ""}`.trim());
    return refuse();
  }
  if ("login" in read) {
    if (!read.login.isAnonymous) peer.tried(read.login.username, read.login.isProofOf, read.login.detail);
    return refuse();
  }
  const challenge = token.equals(ntlm) ? read.challenge : encodeSpnegoChallenge(read.challenge);
  respond(peer, "401 ", [`WWW-Authenticate: ${scheme} ${challenge.toString("base64")}`], "");
  next();
}

function respond(peer: Peer, status: string, fields: readonly string[], body: string): void {
  peer.send(toText(peer, status, fields, body));
}

function toText(peer: Pick<Peer, "now">, status: string, fields: readonly string[], body: string): string {
  return `${[`HTTP/1.1 ${status}`, `Server: ${SERVER}`, ...fields, `Date: ${peer.now().toUTCString()}`, `Content-Length: ${body.length}`].join("\r\n")}\r\n\r\n${body}`;
}
