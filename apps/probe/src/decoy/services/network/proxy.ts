/** A proxy that wants a password, and goes nowhere. @see RFC 9110 sections 9.3.6 and 15.5.8 */
import { createHeadReader } from "../head-reader.ts";
import { readBasic } from "../http.ts";
import type { Service } from "../service.ts";

const REFUSED = "<!DOCTYPE html><html><head><title>ERROR: Cache Access Denied</title></head><body><h1>Cache Access Denied.</h1></body></html>\n";
const INVALID = "<!DOCTYPE html><html><head><title>ERROR: The requested URL could not be retrieved</title></head><body><h1>ERROR</h1><h2>The requested URL could not be retrieved</h2></body></html>\n";

/** Answers each request with 407, as Squid does, and one for its own pages with 400. */
export const proxy: Service = (peer, stage) => createHeadReader(({ first, headers }) => {
  const [method = "", target = ""] = first.split(" ");
  const given = readBasic(headers.get("proxy-authorization") ?? "");
  if (given) peer.tried(given.username, given.password);
  else peer.reached("command", "", `${method} ${target}`.slice(0, 256));
  const isForItself = target.startsWith("/");
  const page = isForItself ? INVALID : REFUSED;
  const head = [
    `HTTP/1.1 ${isForItself ? "400 Bad Request" : "407 Proxy Authentication Required"}`, `Server: ${stage.persona.proxy}`, "Mime-Version: 1.0", `Date: ${peer.now().toUTCString()}`, "Content-Type: text/html;charset=utf-8",
    `Content-Length: ${Buffer.byteLength(page)}`, `X-Squid-Error: ${isForItself ? "ERR_INVALID_URL 0" : "ERR_CACHE_ACCESS_DENIED 0"}`, ...(isForItself ? [] : ['Proxy-Authenticate: Basic realm="proxy"']), "Connection: close",
  ];
  peer.end(`${head.join("\r\n")}\r\n\r\n${method === "HEAD" ? "" : page}`);
}, () => peer.end());
