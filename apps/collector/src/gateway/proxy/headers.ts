import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** About one connection, not about the message. @see RFC 9110 section 7.6.1 */
const HOP_BY_HOP = new Set([
  "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
  "upgrade",
]);

/**
 * What the gateway itself says of a request; what a client says of it counts for nothing. `expect` it has answered already,
 * and it must be able to read a refusal, so answers come as they are.
 */
const OF_THE_GATEWAY = new Set(["host", "forwarded", "via", "x-real-ip", "x-request-id", "expect", "accept-encoding"]);

/** What a client proves itself by stays here: behind the gateway its signed word counts. */
const CREDENTIALS = new Set(["authorization", "x-api-key", "cookie"]);

/** What the gateway says for every answer, whichever service gave it. */
const OF_EVERY_ANSWER = new Set([
  "cache-control", "server", "x-powered-by", "strict-transport-security", "content-security-policy", "set-cookie", "x-request-id", "date",
]);

/** What a service gets of a request's headers. @param added The gateway's own. */
export function requestHeaders(client: Headers, added: Readonly<Record<string, string>>): OutgoingHttpHeaders {
  const left = connectionOptions(client.get("connection"));
  const headers: Record<string, string> = {};
  for (const [name, value] of client) {
    const isOurs = OF_THE_GATEWAY.has(name) || CREDENTIALS.has(name) || name.startsWith("x-forwarded-") || name.startsWith("x-lanthorn-");
    if (!isOurs && !HOP_BY_HOP.has(name) && !left.has(name)) headers[name] = value;
  }
  return { ...headers, ...added };
}

/** What a client gets of a service's headers. */
export function answerHeaders(service: IncomingHttpHeaders, origin: string): Headers {
  const left = connectionOptions(service.connection ?? null);
  const headers = new Headers();
  for (const [name, value] of Object.entries(service)) {
    const isOurs = OF_EVERY_ANSWER.has(name) || name.startsWith("x-ratelimit-") || name.startsWith("access-control-")
      || name.startsWith("x-lanthorn-");
    if (isOurs || HOP_BY_HOP.has(name) || left.has(name) || value === undefined) continue;
    for (const one of [value].flat()) headers.append(name, name === "location" ? fromHere(one, origin) : one);
  }
  return headers;
}

/** A place at the service is, for the client, the same place here. */
function fromHere(location: string, origin: string): string {
  return location.startsWith(`${origin}/`) ? location.slice(origin.length) : location;
}

function connectionOptions(value: string | null): ReadonlySet<string> {
  return new Set((value ?? "").split(",").map((name) => name.trim().toLowerCase()).filter(Boolean));
}
