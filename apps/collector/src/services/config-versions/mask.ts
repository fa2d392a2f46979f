/** What stands in place of a secret. */
export const MASK = "[secret]";

/**
 * Words after which the rest of a line is a secret, as network devices write them: Cisco IOS and NX-OS, Juniper, Arista, HP and
 * Aruba, Fortinet, MikroTik, Palo Alto. Rather too much is hidden than too little: `snmp-server community X RO 10` loses its `RO 10`.
 */
const SECRET_WORDS = [
  "password", "passwd", "passphrase", "secret", "psksecret", "ppk-secret", "community", "community-string", "md5", "auth-pwd", "priv-pwd",
  "private-key", "key-string", "pre-shared-key", "preshared-key", "wpa-psk", "wpa2-pre-shared-key", "wpa-pre-shared-key", "psk",
  "authentication-key", "auth-key", "privacy-key", "authentication-password", "privacy-password", "encrypted-password",
  "plain-text-password", "secret-key", "shared-secret", "trap-community", "api-key", "apikey", "token", "credential", "phash", "hash",
  "hmac-key", "cak", "sak", "ascii-text", "hexadecimal", "rocommunity", "rwcommunity", "com2sec",
  "auth-password", "priv-password", "ldap-password", "bind-password", "enc",
] as const;

/** After these, what follows is a secret only where it is not one of a few words that belong to the language. */
const AFTER_WORD = new RegExp(
  String.raw`(?<![a-z0-9])(?:${SECRET_WORDS.join("|")})(?![\w-])(?:["']?\s*[:=]\s*|["']?\s+|["']?>)(?=\S)`, "i",
);
/**
 * `key 7 0822455D0A16`, `tacacs-server key geheim`, `crypto isakmp key geheim address …`, but neither `key 1` of a key chain nor
 * `crypto key generate`.
 */
const KEY = /(?<![\w-])key\s+(?!chain\b|generate\b|\d+\s*$)(?=\S)/i;
/** SNMPv3 users: what follows a protocol's name is its password. */
const SNMP_USER = /(?<![\w-])(?:auth\s+(?:md5|sha\S*)|priv\s+(?:des|3des|aes(?:\s*\d{3})?))\s+(?=\S)/i;
/** Hashes and encrypted texts are secrets wherever they are. @see crypt(5); Juniper's $9$ */
const HASH = /\$(?:1|2[aby]|5|6|8|9|14|y|sha512)\$\S+/;
const BLOCK_BEGINS = /-----BEGIN (?!CERTIFICATE-----|PUBLIC KEY-----)[A-Z ]+-----/;
const BLOCK_ENDS = /-----END [A-Z ]+-----/;

/** The same lines, as many and in the same order, with secrets hidden. */
export function maskLines(lines: readonly string[]): readonly string[] {
  let isInBlock = false;
  return lines.map((line) => {
    if (isInBlock || BLOCK_BEGINS.test(line)) {
      isInBlock = !BLOCK_ENDS.test(line);
      const begin = BLOCK_BEGINS.exec(line);
      return begin ? `${maskLine(line.slice(0, begin.index))}${MASK}` : MASK;
    }
    return maskLine(line);
  });
}

function maskLine(line: string): string {
  const begins = [AFTER_WORD, KEY, SNMP_USER].flatMap((pattern) => {
    const found = pattern.exec(line);
    return found ? [found.index + found[0].length] : [];
  });
  const hash = HASH.exec(line);
  if (hash) begins.push(hash.index);
  return begins.length === 0 ? line : `${line.slice(0, Math.min(...begins))}${MASK}`;
}
