/** A proxy that wants a password, and goes nowhere. @see RFC 9110 sections 9.3.6 and 15.5.8 */
import { createHeadReader } from "../head-reader.ts";
import { readBasic } from "../http.ts";
import type { Service } from "../service.ts";

const PAGE = "<!DOCTYPE html><html><head><title>ERROR: Cache Access Denied</title></head><body><h1>Cache Access Denied.</h1></body></html>\n";

/** Answers each request with 407, as Squid does. */
export const proxy: Service = (peer, stage) => createHeadReader(({ first, headers }) => {
  const [method = "", target = ""] = first.split(" ");
  const given = readBasic(headers.get("proxy-authorization") ?? "");
  if (given) peer.tried(given.username, given.password);
  else peer.reached("command", "", `${method} ${target}`.slice(0, 256));
  const head = [
    "HTTP/1.1 407 Proxy Authentication Required", `Server: ${stage.persona.proxy}`, "Mime-Version: 1.0", `Date: ${peer.now().toUTCString()}`, "Content-Type: text/html;charset=utf-8",
    `Content-Length: ${Buffer.byteLength(PAGE)}`, "X-Squid-Error: ERR_CACHE_ACCESS_DENIED 0", 'Proxy-Authenticate: Basic realm="proxy"', "Connection: close",
  ];
  peer.end(`${head.join("\r\n")}\r\n\r\n${method === "HEAD" ? "" : PAGE}`);
}, () => peer.end());
