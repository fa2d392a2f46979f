/**
 * Names that are nobody's on the Internet: they are answered here, unless a route has them, and never asked of a server outside.
 * @see RFC 6761, RFC 6303 section 4, RFC 7686, RFC 8375, RFC 9476
 */
import { wireName } from "./routes.ts";

const NAMES = [
  "invalid", "onion", "alt", "local", "home.arpa", "internal", "lan", "intranet", "private", "corp", "home", "test",
  "10.in-addr.arpa", "168.192.in-addr.arpa", "254.169.in-addr.arpa", "127.in-addr.arpa", "0.in-addr.arpa", "255.255.255.255.in-addr.arpa",
  "2.0.192.in-addr.arpa", "100.51.198.in-addr.arpa", "113.0.203.in-addr.arpa",
  ...Array.from({ length: 16 }, (_, index) => `${16 + index}.172.in-addr.arpa`),
  ...Array.from({ length: 64 }, (_, index) => `${64 + index}.100.in-addr.arpa`),
  "d.f.ip6.arpa", "8.e.f.ip6.arpa", "9.e.f.ip6.arpa", "a.e.f.ip6.arpa", "b.e.f.ip6.arpa", "8.b.d.0.1.0.0.2.ip6.arpa",
];
const ZONES: ReadonlySet<string> = new Set(NAMES.map((name) => Buffer.from(wireName(name)).toString("latin1")));
const LOCALHOST = Buffer.from(wireName("localhost")).toString("latin1");

/** `localhost`: the loopback addresses. `nobody`: there is no such name. Null: it is for a server to say. */
export function localMeaning(name: Uint8Array): "localhost" | "nobody" | null {
  const text = Buffer.from(name.buffer, name.byteOffset, name.byteLength).toString("latin1");
  for (let at = 0; at < name.length - 1; at += 1 + (name[at] as number)) {
    const zone = text.slice(at);
    if (zone === LOCALHOST) return "localhost";
    if (ZONES.has(zone)) return "nobody";
  }
  return null;
}
