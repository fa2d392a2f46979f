// SNMPv3 with the User-based Security Model. @see RFC 3412 section 6, RFC 3414, RFC 3826 (AES), RFC 7860 (SHA-2)
import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { ProbeCredential } from "@lanthorn/contract/uplink";
import { decodeInteger, encodeInteger, encodeTlv, readAll, readTlv, type Tlv } from "@lanthorn/packets";
import { decodePdu, type Pdu, TAG } from "./pdu.ts";

type SnmpV3 = Extract<ProbeCredential, { readonly type: "snmpv3" }>;

/** OpenSSL's name, and how many bytes of the code are sent. */
const AUTH = {
  md5: ["md5", 12], sha: ["sha1", 12], sha224: ["sha224", 16], sha256: ["sha256", 24], sha384: ["sha384", 32], sha512: ["sha512", 48],
} as const;
const USER_MODEL = 3;
const FLAG = { auth: 1, privacy: 2, reportable: 4 } as const;
const MAX_BYTES = 65_507;
/** RFC 3414 appendix A.2: a password is repeated to so many bytes. */
const PASSWORD_BYTES = 1_048_576;

/** An agent's engine, as it reported itself. */
export interface Engine {
  readonly id: Uint8Array;
  readonly boots: number;
  /** Seconds since it started. */
  readonly time: number;
}

/** What an answer holds. */
export interface Opened {
  readonly engine: Engine;
  /** Null where it cannot be decrypted or is none. */
  readonly pdu: Pdu | null;
  /** It carries a code of who knows the password. */
  readonly isAuthentic: boolean;
}

/** Makes and reads the messages of one user at one engine. */
export interface UserSecurity {
  /** @param messageId Below 2^31; @param salt Eight bytes that no other message has. */
  seal(engine: Engine, pdu: Uint8Array, message: { readonly id: number; readonly salt: Uint8Array }): Uint8Array;
  /** @returns Null for what is no message of version 3. */
  open(bytes: Uint8Array): Opened | null;
}

/** @param engineId Keys are made for it: the same password gives another key at each engine. */
export function createUserSecurity(credential: SnmpV3, engineId: Uint8Array): UserSecurity {
  const { username, context, auth_protocol: authName, privacy_protocol: privacyName } = credential.settings;
  const { auth_password: authPassword, privacy_password: privacyPassword } = credential.secret;
  const [hash, length] = AUTH[authName ?? "sha256"];
  const auth = authName === null || authPassword === undefined ? null : { length, key: localKey(hash, authPassword, engineId) };
  const hasPrivacy = auth !== null && privacyName !== null && privacyPassword !== undefined;
  const privacy = hasPrivacy ? { name: privacyName, key: privacyKey(hash, privacyPassword, engineId) } : null;
  const codeOf = (message: Uint8Array) =>
    (auth ? createHmac(hash, auth.key).update(message).digest().subarray(0, auth.length) : Buffer.alloc(0));
  return {
    seal(engine, pdu, { id, salt }) {
      const scoped = encodeTlv(0x30, Buffer.concat([octets(engine.id), octets(Buffer.from(context)), pdu]));
      const data = privacy ? octets(encrypt(privacy, engine, salt, scoped)) : scoped;
      const flags = FLAG.reportable | (auth ? FLAG.auth : 0) | (privacy ? FLAG.privacy : 0);
      const global = encodeTlv(0x30, Buffer.concat([
        encodeInteger(id), encodeInteger(MAX_BYTES), octets(Uint8Array.of(flags)), encodeInteger(USER_MODEL),
      ]));
      const privacyParameters = octets(privacy ? salt : new Uint8Array());
      const parameters = encodeTlv(0x30, Buffer.concat([
        octets(engine.id), encodeInteger(engine.boots), encodeInteger(engine.time), octets(Buffer.from(username)),
        octets(new Uint8Array(auth?.length ?? 0)), privacyParameters,
      ]));
      const message = encodeTlv(0x30, Buffer.concat([encodeInteger(3), global, octets(parameters), data]));
      // The code is of the message with zeros in its place, which is known from the end.
      if (auth) message.set(codeOf(message), message.length - data.length - privacyParameters.length - auth.length);
      return message;
    },
    open(bytes) {
      const parts = readMessage(bytes);
      if (!parts) return null;
      const { engine, code, salt, data } = parts;
      const isOfEngine = Buffer.from(engine.id).equals(engineId);
      const isAuthentic = auth !== null && (parts.flags & FLAG.auth) !== 0 && isOfEngine && isCode(bytes, code, codeOf);
      const isEncrypted = (parts.flags & FLAG.privacy) !== 0;
      // What is not authentic is not decrypted.
      const decrypted = isEncrypted && privacy && isAuthentic ? decrypt(privacy, engine, salt, data.value) : null;
      const plain = isEncrypted ? decrypted : data.tag === 0x30 ? data.value : null;
      const fields = plain ? readAll(isEncrypted ? readTlv(plain)?.value ?? new Uint8Array() : plain) : [];
      const last = fields[2];
      return { engine, isAuthentic, pdu: last ? decodePdu(last) : null };
    },
  };
}

interface Parts {
  readonly flags: number;
  readonly engine: Engine;
  readonly code: Uint8Array;
  readonly salt: Uint8Array;
  readonly data: Tlv;
}

function readMessage(bytes: Uint8Array): Parts | null {
  const [version, global, security, data] = readAll(readTlv(bytes)?.value ?? new Uint8Array());
  if (!version || decodeInteger(version.value) !== 3 || !global || security?.tag !== TAG.octets || !data) return null;
  const flags = readAll(global.value)[2]?.value[0] ?? 0;
  const [id, boots, time, , code, salt] = readAll(readTlv(security.value)?.value ?? new Uint8Array());
  if (!id || id.value.length > 32 || !boots || !time || !code || !salt) return null;
  const engine = { id: id.value, boots: decodeInteger(boots.value), time: decodeInteger(time.value) };
  return { flags, engine, code: code.value, salt: salt.value, data };
}

function isCode(bytes: Uint8Array, code: Uint8Array, codeOf: (message: Uint8Array) => Uint8Array): boolean {
  const message = Uint8Array.from(bytes);
  message.fill(0, code.byteOffset - bytes.byteOffset, code.byteOffset - bytes.byteOffset + code.length);
  const expected = codeOf(message);
  return expected.length > 0 && expected.length === code.length && timingSafeEqual(expected, code);
}

/** RFC 3414 sections A.2 and 2.6. */
function localKey(hash: string, password: string, engineId: Uint8Array): Buffer {
  const key = createHash(hash).update(Buffer.alloc(PASSWORD_BYTES, password)).digest();
  return createHash(hash).update(key).update(engineId).update(key).digest();
}

/** Lengthened for AES-256 as net-snmp does it. @see draft-blumenthal-aes-usm-04 section 3.1.2.1 */
function privacyKey(hash: string, password: string, engineId: Uint8Array): Buffer {
  let key = localKey(hash, password, engineId);
  while (key.length < 32) key = Buffer.concat([key, createHash(hash).update(key).digest()]);
  return key;
}

interface Privacy {
  readonly name: "des" | "aes" | "aes256";
  readonly key: Buffer;
}

function cipherOf({ name, key }: Privacy, engine: Engine, salt: Uint8Array): readonly [algorithm: string, key: Buffer, iv: Buffer] {
  // OpenSSL 3 has single DES no more, but the triple one with one key thrice is the same.
  if (name === "des") {
    const once = key.subarray(0, 8);
    return ["des-ede3-cbc", Buffer.concat([once, once, once]), Buffer.from(salt.map((byte, at) => byte ^ (key[8 + at] ?? 0)))];
  }
  const iv = Buffer.alloc(16);
  iv.writeUInt32BE(engine.boots >>> 0, 0);
  iv.writeUInt32BE(engine.time >>> 0, 4);
  iv.set(salt, 8);
  return name === "aes" ? ["aes-128-cfb", key.subarray(0, 16), iv] : ["aes-256-cfb", key.subarray(0, 32), iv];
}

function encrypt(privacy: Privacy, engine: Engine, salt: Uint8Array, plain: Uint8Array): Buffer {
  const cipher = createCipheriv(...cipherOf(privacy, engine, salt)).setAutoPadding(false);
  const padded = privacy.name === "des" ? Buffer.concat([plain, Buffer.alloc((8 - (plain.length % 8)) % 8)]) : plain;
  return Buffer.concat([cipher.update(padded), cipher.final()]);
}

function decrypt(privacy: Privacy, engine: Engine, salt: Uint8Array, bytes: Uint8Array): Uint8Array | null {
  if (salt.length !== 8 || (privacy.name === "des" && bytes.length % 8 !== 0)) return null;
  const decipher = createDecipheriv(...cipherOf(privacy, engine, salt)).setAutoPadding(false);
  return Buffer.concat([decipher.update(bytes), decipher.final()]);
}

function octets(bytes: Uint8Array): Uint8Array {
  return encodeTlv(TAG.octets, bytes);
}
