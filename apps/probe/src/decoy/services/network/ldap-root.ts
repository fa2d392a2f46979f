/** What a directory says of itself: OpenLDAP's of Debian 11, without TLS and SASL. @see RFC 4512 section 5.1 */
import { encodeTlv } from "@lanthorn/packets";

const TAG = { octets: 0x04, sequence: 0x30, set: 0x31, entry: 0x64 } as const;

/** Shown to who asks for no attributes by name. */
const PLAIN = "objectclass";
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  objectClass: ["top", "OpenLDAProotDSE"],
  structuralObjectClass: ["OpenLDAProotDSE"],
  configContext: ["cn=config"],
  namingContexts: ["dc=nodomain"],
  supportedControl: [
    "2.16.840.1.113730.3.4.18", "2.16.840.1.113730.3.4.2", "1.3.6.1.4.1.4203.1.10.1", "1.3.6.1.1.22", "1.2.840.113556.1.4.319", "1.2.826.0.1.3344810.2.3", "1.3.6.1.1.13.2", "1.3.6.1.1.13.1", "1.3.6.1.1.12",
  ],
  supportedExtension: ["1.3.6.1.4.1.4203.1.11.1", "1.3.6.1.4.1.4203.1.11.3", "1.3.6.1.1.8", "1.3.6.1.1.21.3", "1.3.6.1.1.21.1"],
  supportedFeatures: ["1.3.6.1.1.14", "1.3.6.1.4.1.4203.1.5.1", "1.3.6.1.4.1.4203.1.5.2", "1.3.6.1.4.1.4203.1.5.3", "1.3.6.1.4.1.4203.1.5.4", "1.3.6.1.4.1.4203.1.5.5"],
  supportedLDAPVersion: ["3"],
  subschemaSubentry: ["cn=Subschema"],
};

/** @param asked Names in lower case, `*` and `+`; none is as `*`. @returns The SearchResultEntry. */
export function encodeRootEntry(asked: ReadonlySet<string>): Uint8Array {
  const isShown = (name: string) => asked.has(name) || (name === PLAIN ? asked.size === 0 || asked.has("*") : asked.has("+"));
  const text = (value: string) => encodeTlv(TAG.octets, Buffer.from(value));
  const attributes = Object.entries(ATTRIBUTES).filter(([name]) => isShown(name.toLowerCase())).map(([name, values]) =>
    encodeTlv(TAG.sequence, Buffer.concat([text(name), encodeTlv(TAG.set, Buffer.concat(values.map(text)))])));
  return encodeTlv(TAG.entry, Buffer.concat([text(""), encodeTlv(TAG.sequence, Buffer.concat(attributes))]));
}
