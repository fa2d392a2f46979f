import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { LicenseClaims } from "@lanthorn/contract";
import { CompactSign } from "jose";
import { CollectorError } from "../../errors.ts";
import { LICENSE_TYPE } from "./verify.ts";

/**
 * Signs a license.
 * @param keyFile An Ed25519 private key in PEM, whose public key is in `license.issuer_files` of whoever is to take it.
 * @returns The text to upload.
 * @throws CollectorError `admin-refused` for a key that cannot be used, or claims that no license can have.
 */
export async function issueLicense(claims: Omit<LicenseClaims, "aud">, keyFile: string): Promise<string> {
  const key = readIssuerKey(keyFile);
  const checked = LicenseClaims.safeParse({ aud: "lanthorn", ...claims });
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw new CollectorError("admin-refused", `${issue?.path.join(".") ?? "license"}: ${issue?.message ?? "not valid"}`);
  }
  const payload = new TextEncoder().encode(JSON.stringify(checked.data));
  return new CompactSign(payload).setProtectedHeader({ alg: "EdDSA", typ: LICENSE_TYPE }).sign(key);
}

function readIssuerKey(path: string): KeyObject {
  const how = "make one with: openssl genpkey -algorithm ed25519";
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new CollectorError("admin-refused", `cannot read a private key from ${path}; ${how}`, { cause });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new CollectorError("admin-refused", `${path} holds a key of type ${key.asymmetricKeyType}; ${how}`);
}
