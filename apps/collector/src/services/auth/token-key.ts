import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { CollectorError } from "../../errors.ts";

const HOW = "make one with: openssl genpkey -algorithm ed25519";

/** Reads an Ed25519 private key in PEM. @throws CollectorError `token-key-unusable` for a file that cannot be read or holds another key. */
export function readTokenKey(path: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new CollectorError("token-key-unusable", `cannot read a private key from token.key_file (${path}); ${HOW}`, { cause });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new CollectorError("token-key-unusable", `token.key_file (${path}) holds a key of type ${key.asymmetricKeyType}; ${HOW}`);
}
