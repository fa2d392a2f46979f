/** Names of certificates as Suricata writes them. @see RFC 5280 section 4.1.2.4, ITU-T X.520 */
import { decodeObjectIdentifier, decodeUtf8, readAll, type Tlv } from "@lanthorn/packets";

/** Words for types of attributes, as they appear in Suricata's subjects; all others are written as numbers. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  "2.5.4.0": "objectClass", "2.5.4.1": "aliasedEntryName", "2.5.4.2": "knowledgeInformation", "2.5.4.3": "CN", "2.5.4.4": "surname", "2.5.4.5": "serialNumber", "2.5.4.6": "C",
  "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "streetAddress", "2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "title", "2.5.4.13": "description", "2.5.4.14": "searchGuide",
  "2.5.4.15": "businessCategory", "2.5.4.16": "postalAddress", "2.5.4.17": "postalCode", "2.5.4.41": "name", "2.5.4.42": "givenName", "2.5.4.43": "initials",
  "2.5.4.44": "generationQualifier", "2.5.4.45": "uniqueIdentifier", "2.5.4.46": "dnQualifier", "2.5.29.17": "subjectAltName",
  "0.9.2342.19200300.100.1.1": "uid", "0.9.2342.19200300.100.1.25": "DC",
  "1.2.840.113549.1.9.1": "Email", "1.2.840.113549.1.9.2": "unstructuredName", "1.2.840.113549.1.9.3": "contentType", "1.2.840.113549.1.9.4": "id-messageDigest",
  "1.2.840.113549.1.9.5": "signing-time", "1.2.840.113549.1.9.7": "challengePassword", "1.2.840.113549.1.9.14": "extensionRequest", "1.2.840.113549.1.9.15": "smimeCapabilities",
  "1.2.840.113549.1.9.20": "friendlyName",
  "1.3.6.1.4.1.311.60.2.1.1": "msJurisdictionLocality", "1.3.6.1.4.1.311.60.2.1.2": "msJurisdictionStateOrProvince", "1.3.6.1.4.1.311.60.2.1.3": "msJurisdictionCountry",
};

const INVALID = "<X509Error: Invalid X.509 name>";
const TAG = { objectIdentifier: 0x06, bmpString: 0x1e } as const;
/** UTF8String, NumericString, PrintableString, TeletexString, IA5String, VisibleString, GeneralString: whichever it says, it must be UTF-8. */
const TEXT_TAGS: ReadonlySet<number> = new Set([0x0c, 0x12, 0x13, 0x14, 0x16, 0x1a, 0x1b]);
const LONE_SURROGATE = /[\uD800-\uDFFF]/u;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @returns In the order of the certificate: `C=US, O=Example, CN=example.com`, of relative names with several attributes `O=Example + CN=a`. */
export function nameText(name: Tlv): string {
  const parts: string[] = [];
  for (const set of readAll(name.value)) {
    const attributes: string[] = [];
    for (const attribute of readAll(set.value)) {
      const [type, value] = readAll(attribute.value);
      if (type?.tag !== TAG.objectIdentifier || !value) return "";
      const text = valueText(value);
      if (text === null) return INVALID;
      const oid = decodeObjectIdentifier(type.value);
      attributes.push(`${ATTRIBUTES[oid] ?? `OID(${oid})`}=${text}`);
    }
    parts.push(attributes.join(" + "));
  }
  return parts.join(", ");
}

/** @returns null where it is not what its tag says. */
function valueText({ tag, value }: Tlv): string | null {
  if (TEXT_TAGS.has(tag)) return isUtf8(value) ? decodeUtf8(value) : null;
  if (tag !== TAG.bmpString) return Buffer.from(value).toString("hex").toUpperCase();
  let text = "";
  for (let at = 0; at + 1 < value.length; at += 2) text += String.fromCharCode(((value[at] as number) << 8) | (value[at + 1] as number));
  return LONE_SURROGATE.test(text) ? null : text;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    utf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
