import { createCipheriv, createDecipheriv, createHmac, diffieHellman, generateKeyPairSync, hkdfSync, timingSafeEqual } from "node:crypto";
import { CollectorError } from "../errors.ts";
import { type AgeKey, publicKey, rawPublic } from "./age-keys.ts";
import { unreadable } from "./unreadable.ts";

/**
 * The head of an age file: the file's own key, sealed to each recipient, and a MAC over it all.
 * @see https://age-encryption.org/v1
 */

const VERSION = "age-encryption.org/v1";
const X25519_INFO = "age-encryption.org/v1/X25519";
export const FILE_KEY_BYTES = 16;
const TAG_BYTES = 16;
/** Each wrapping key seals one thing, once. */
const NONCE = Buffer.alloc(12);
/** A head of ours has some hundred bytes for each recipient; more is nobody's. */
export const LONGEST_HEAD = 65_536;

/** What a head says of one recipient. */
interface Stanza {
  readonly type: string;
  readonly share: string;
  readonly body: Uint8Array;
}

/** @param fileKey 16 bytes of the file's own. @returns The head with its last line end. */
export function writeHead(fileKey: Uint8Array, recipients: readonly AgeKey[]): string {
  const stanzas = recipients.map((recipient) => {
    const { privateKey, publicKey: share } = generateKeyPairSync("x25519");
    const shareBytes = rawPublic(share);
    const wrap = wrappingKey(diffieHellman({ privateKey, publicKey: recipient.key }), shareBytes, recipient.publicBytes);
    const cipher = createCipheriv("chacha20-poly1305", wrap, NONCE, { authTagLength: TAG_BYTES });
    const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
    return `-> X25519 ${base64(shareBytes)}\n${base64(body)}\n`;
  });
  const covered = `${VERSION}\n${stanzas.join("")}---`;
  return `${covered} ${base64(macOf(fileKey, covered))}\n`;
}

/**
 * The file's key, which one of the private keys must open.
 * @param head Everything up to and with the line end after the MAC.
 * @throws CollectorError `backup-unreadable` for what is no such head or was changed; `backup-key-unusable` for other keys.
 */
export function openHead(head: string, identities: readonly AgeKey[]): Uint8Array {
  const { stanzas, covered, mac } = parseHead(head);
  for (const stanza of stanzas.filter(({ type }) => type === "X25519")) {
    for (const identity of identities) {
      const fileKey = unwrap(stanza, identity);
      if (fileKey) return checkedKey(fileKey, covered, mac);
    }
  }
  throw new CollectorError("backup-key-unusable", "the backup was made for another key");
}

/** @throws CollectorError `backup-unreadable` where the head is not the one that the key was made for. */
function checkedKey(fileKey: Uint8Array, covered: string, mac: Uint8Array): Uint8Array {
  const right = macOf(fileKey, covered);
  if (right.length !== mac.length || !timingSafeEqual(right, mac)) throw unreadable("its head was changed");
  return fileKey;
}

function parseHead(head: string): { readonly stanzas: readonly Stanza[]; readonly covered: string; readonly mac: Uint8Array } {
  const lines = head.split("\n");
  if (lines[0] !== VERSION) throw unreadable("it does not begin as one of age's does");
  const stanzas: Stanza[] = [];
  let at = 1;
  while (lines[at]?.startsWith("-> ") === true) {
    const [, type = "", share = ""] = (lines[at] ?? "").split(" ");
    let body = "";
    for (at += 1; at < lines.length; at += 1) {
      const line = lines[at] ?? "";
      body += line;
      // A full line goes on; the last one is shorter, and may be empty.
      if (line.length < 64) break;
    }
    at += 1;
    stanzas.push({ type, share, body: fromBase64(body) ?? Buffer.alloc(0) });
  }
  const mac = fromBase64(/^--- (.{43})$/.exec(lines[at] ?? "")?.[1] ?? "");
  if (mac === null) throw unreadable("its head is not whole");
  return { stanzas, covered: `${lines.slice(0, at).join("\n")}\n---`, mac };
}

/** @returns Null where the stanza is another key's. */
function unwrap({ share, body }: Stanza, identity: AgeKey): Uint8Array | null {
  const shareBytes = fromBase64(share);
  if (shareBytes?.length !== 32 || body.length !== FILE_KEY_BYTES + TAG_BYTES) return null;
  try {
    const secret = diffieHellman({ privateKey: identity.key, publicKey: publicKey(shareBytes) });
    const decipher = createDecipheriv(
      "chacha20-poly1305", wrappingKey(secret, shareBytes, identity.publicBytes), NONCE, { authTagLength: TAG_BYTES },
    );
    decipher.setAuthTag(body.subarray(FILE_KEY_BYTES));
    return Buffer.concat([decipher.update(body.subarray(0, FILE_KEY_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}

function wrappingKey(secret: Uint8Array, share: Uint8Array, recipient: Uint8Array): Uint8Array {
  return Buffer.from(hkdfSync("sha256", secret, Buffer.concat([share, recipient]), X25519_INFO, 32));
}

function macOf(fileKey: Uint8Array, covered: string): Buffer {
  return createHmac("sha256", Buffer.from(hkdfSync("sha256", fileKey, "", "header", 32))).update(covered).digest();
}

/** @returns Null for a second spelling of the same bytes, and for what is none. */
function fromBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64");
  return base64(bytes) === text ? bytes : null;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}
