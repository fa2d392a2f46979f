// LDAP: a search for the root DSE, which everybody may read. @see RFC 4511 section 4.5, RFC 4512 section 5.1
import { claims, learned, printable, type Recognition, type TcpProtocol, toText } from "../protocol.ts";
import { encodeTlv, readTlv } from "@lanthorn/packets";

const ATTRIBUTES = [
  "vendorName", "vendorVersion", "namingContexts", "defaultNamingContext", "dnsHostName", "supportedLDAPVersion", "domainFunctionality",
  "supportedExtension", "objectClass",
];
const START_TLS = "1.3.6.1.4.1.1466.20037";

/** The root DSE, read without a bind: domain names, vendor, what Active Directory is at. @see RFC 4512 section 5.1 */
export const ldap: TcpProtocol = {
  name: "ldap",
  ports: [389, 636, 3268, 3269],
  hello: () => encodeRootSearch(),
  ownPortsOnly: true,
  recognise(bytes): Recognition {
    if (bytes[0] !== 0x30) return "no";
    const outer = readTlv(bytes);
    if (!outer) return bytes.length < 8 ? "more" : "more";
    const id = readTlv(outer.value);
    const tag = id ? outer.value[id.size] : undefined;
    if (tag === undefined || ![0x61, 0x64, 0x65, 0x78].includes(tag)) return "no";
    // The entry comes before the result; one that may not be read has the result only.
    return tag === 0x64 && readTlv(bytes.subarray(outer.size)) === null ? "more" : "yes";
  },
  async learn(first, connection, target) {
    const found = decodeEntry(first);
    const contexts = found.get("namingcontexts") ?? [];
    const isActiveDirectory = found.has("domainfunctionality");
    const isOpenLdap = (found.get("objectclass") ?? []).includes("OpenLDAProotDSE");
    const offersTls = !target.isSecure && (found.get("supportedextension") ?? []).includes(START_TLS);
    if (offersTls) {
      connection.send(
        encodeTlv(0x30, Buffer.concat([encodeTlv(0x02, Buffer.from([2])), encodeTlv(0x77, encodeTlv(0x80, Buffer.from(START_TLS)))])),
      );
    }
    const answer = offersTls ? await connection.read(() => true, 1000) : null;
    const tls = answer && toText(answer).includes("\x0a\x01\x00") ? await connection.startTls({ timeoutMs: 3000, alpn: [] }) : null;
    const product = isActiveDirectory ? {
      product: "Microsoft Windows Active Directory LDAP", vendor: "Microsoft", os: "Windows", device_type: "server",
    }
      : isOpenLdap ? { product: "OpenLDAP", vendor: "OpenLDAP", cpe: "cpe:2.3:a:openldap:openldap:*:*:*:*:*:*:*:*" }
      : { product: found.get("vendorname")?.[0], version: found.get("vendorversion")?.[0] };
    const protocols = (found.get("supportedldapversion") ?? []).map(Number).filter((version) => version > 0);
    const range = protocols.length === 0 ? "" : `${Math.min(...protocols)} - ${Math.max(...protocols)}`;
    return learned(target.isSecure ? "ldaps" : "ldap", {
      texts: [{ kind: "ldap-root", text: [...found].map(([name, values]) => `${name}: ${values.join(" ")}`).join("\n") }],
      claims: claims("ldap", 0.9, { ...product, hostname: found.get("dnshostname")?.[0] }),
      banner: printable([range === "" ? "" : `LDAP ${range}`, ...contexts].filter((line) => line !== "").join("\n")),
      tls,
    });
  },
};

function encodeRootSearch(): Uint8Array {
  const search = Buffer.concat([
    encodeTlv(0x04, Buffer.alloc(0)), encodeTlv(0x0a, Buffer.from([0])), encodeTlv(0x0a, Buffer.from([0])),
    encodeTlv(0x02, Buffer.from([1])), encodeTlv(0x02, Buffer.from([3])), encodeTlv(0x01, Buffer.from([0])),
    encodeTlv(0x87, Buffer.from("objectClass")),
    encodeTlv(0x30, Buffer.concat(ATTRIBUTES.map((name) => encodeTlv(0x04, Buffer.from(name))))),
  ]);
  return encodeTlv(0x30, Buffer.concat([encodeTlv(0x02, Buffer.from([1])), encodeTlv(0x63, search)]));
}

/** The attributes of the first entry, by lower-case name. */
function decodeEntry(bytes: Uint8Array): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const message = readTlv(bytes);
  const id = message && readTlv(message.value);
  const entry = message && id && readTlv(message.value.subarray(id.size));
  if (entry?.tag !== 0x64) return found;
  const name = readTlv(entry.value);
  const list = name && readTlv(entry.value.subarray(name.size));
  for (let rest = list?.value ?? new Uint8Array(); rest.length > 0; ) {
    const attribute = readTlv(rest);
    if (!attribute) break;
    rest = rest.subarray(attribute.size);
    const type = readTlv(attribute.value);
    const set = type && readTlv(attribute.value.subarray(type.size));
    const values: string[] = [];
    for (let left = set?.value ?? new Uint8Array(); left.length > 0 && values.length < 64; ) {
      const value = readTlv(left);
      if (!value) break;
      values.push(toText(value.value, 256));
      left = left.subarray(value.size);
    }
    if (type) found.set(toText(type.value, 64).toLowerCase(), values);
  }
  return found;
}
