import { readMdnsService } from "@lanthorn/fingerprints";
import type { DnsMessage, DnsRecord } from "@lanthorn/packets";
import { isNeighborAddress, type Link } from "../capture/link.ts";
import type { Observer } from "../hosts/observer.ts";

/** One host offers no more, and no message may make us believe so. */
const MAX_SERVICES = 32;
const MAX_VALUE = 255;

/** `Office._ipp._tcp.local`: an instance, which may hold dots, then its service's type. @see RFC 6763 section 4.1 */
const INSTANCE = /\.(_[a-z0-9-]{1,15}\._(?:tcp|udp))\.local$/i;

/**
 * Reads a Multicast DNS response for the services that it offers. They are the host's at whose address their SRV record ends: a reflector
 * repeats what other links say, and only addresses of this one count.
 * @see RFC 6763 section 12
 */
export function observeMdnsServices(message: Pick<DnsMessage, "answers" | "additionals">, link: Link, observer: Observer): void {
  if (!hasServices(message.answers) && !hasServices(message.additionals)) return;
  const records = [...message.answers, ...message.additionals].filter(({ ttlSeconds }) => ttlSeconds > 0);
  const addresses = new Map<string, Uint8Array>();
  for (const { name, data } of records) {
    if (data.kind === "address" && isNeighborAddress(link, data.address, 0, data.address.length)) {
      addresses.set(name.toLowerCase(), data.address);
    }
  }
  if (addresses.size === 0) return;
  const texts = new Map(records.flatMap(({ name, data }) => (data.kind === "txt" ? [[name.toLowerCase(), data.strings] as const] : [])));
  const offers = records.flatMap(({ name, data }) =>
    (data.kind === "srv" ? [{ name: name.toLowerCase(), target: data.target.toLowerCase() }] : []));
  for (const { name, target } of offers.slice(0, MAX_SERVICES)) {
    const type = INSTANCE.exec(name)?.[1];
    const address = addresses.get(target);
    if (type === undefined || !address) continue;
    const claims = readMdnsService({ type, txt: readTxt(texts.get(name) ?? []) });
    if (claims.length > 0) observer.facts({ address }, claims);
  }
}

function hasServices(records: readonly DnsRecord[]): boolean {
  for (const { data } of records) if (data.kind === "srv") return true;
  return false;
}

type TxtStrings = Extract<DnsRecord["data"], { readonly kind: "txt" }>["strings"];

/** Keys in lower case; of one that comes twice the first. @see RFC 6763 section 6.4 */
function readTxt(strings: TxtStrings): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const bytes of strings) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
    const equals = text.indexOf("=");
    const key = text.slice(0, equals).toLowerCase();
    if (equals > 0 && !fields.has(key)) fields.set(key, text.slice(equals + 1, equals + 1 + MAX_VALUE));
  }
  return fields;
}
