import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { readTextFile } from "@lanthorn/runtime";
import { writeSecretFile } from "./secret-file.ts";
import { CollectorError } from "../errors.ts";

/** The keys as they are now, 32 bytes each: the first seals, those after it only open what was sealed before a rotation. */
export type Keyring = () => readonly [Uint8Array, ...Uint8Array[]];

const KEY_BYTES = 32;
/** The one in use and the one before: everything is sealed anew at each rotation. */
const MAX_KEYS = 2;

/** A keyring of one key that never changes. */
export function singleKey(key: Uint8Array): Keyring {
  return () => [key];
}

/**
 * The keys that the configuration gives, else those in `<dataDir>/sealing-key`, made at the first start. The file is read again
 * when it has changed, so that a rotation needs no restart. Collectors that share a database must share the keys.
 * @param given Keys of 32 bytes in Base64, with a comma between the one in use and the one before.
 * @throws CollectorError `config-invalid`, here and from the keyring, for keys of another length.
 */
export function openKeyring(dataDir: string, given: string | undefined): Keyring {
  if (given !== undefined) {
    const keys = parseKeys(given, "sealing_key");
    return () => keys;
  }
  const path = keyFile(dataDir);
  writeSecretFile(path, `${newKey()}\n`, { replace: false });
  const read = () => parseKeys(readTextFile(path) ?? "", path);
  let [version, keys] = [versionOf(path), read()];
  return () => {
    const now = versionOf(path);
    if (now !== version) [version, keys] = [now, read()];
    return keys;
  };
}

/**
 * Puts a new key before the one in use, in the file that `openKeyring` reads; older ones are forgotten, so everything must have
 * been sealed with the one in use.
 * @throws CollectorError `config-invalid` for a file that holds no keys.
 */
export function addKey(dataDir: string): void {
  const path = keyFile(dataDir);
  const [current] = parseKeys(readTextFile(path) ?? "", path);
  writeSecretFile(path, `${newKey()}\n${Buffer.from(current).toString("base64")}\n`, { replace: true });
}

function keyFile(dataDir: string): string {
  return join(dataDir, "sealing-key");
}

function newKey(): string {
  return randomBytes(KEY_BYTES).toString("base64");
}

/** The file is replaced as a whole, so that another one has another number. */
function versionOf(path: string): string {
  const { ino, mtimeMs } = statSync(path);
  return `${ino} ${mtimeMs}`;
}

function parseKeys(text: string, where: string): readonly [Uint8Array, ...Uint8Array[]] {
  const [first, ...others] = text.split(/[\s,]+/).filter(Boolean).map((word) => Buffer.from(word, "base64"));
  if (first && others.length < MAX_KEYS && [first, ...others].every(({ length }) => length === KEY_BYTES)) return [first, ...others];
  throw new CollectorError(
    "config-invalid",
    `${where} must be ${KEY_BYTES} bytes in Base64, or two such keys separated by a comma: the new one and the previous one`,
  );
}
