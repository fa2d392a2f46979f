import { createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { LicenseClaims } from "@lanthorn/contract";
import { compactVerify } from "jose";
import { CollectorError } from "../../errors.ts";

/** A license that is what its issuer signed, or in words why it is none. It may be over by now. */
export type Verified = { readonly ok: true; readonly claims: LicenseClaims } | { readonly ok: false; readonly message: string };

/** Of `license` in a JOSE header, as `jwt` is for tokens: a token that something else signed with the same key is no license. */
export const LICENSE_TYPE = "license+jwt";

/**
 * Reads the public keys of those whose licenses this deployment takes: Ed25519 in PEM (SubjectPublicKeyInfo).
 * @throws CollectorError `config-invalid` for a file that cannot be read or holds another key.
 */
export function readIssuers(paths: readonly string[]): readonly KeyObject[] {
  return paths.map((path) => {
    let key: KeyObject;
    try {
      key = createPublicKey(readFileSync(path, "utf8"));
    } catch (cause) {
      throw new CollectorError("config-invalid", `license.issuer_files: cannot read a public key from ${path}`, { cause });
    }
    if (key.asymmetricKeyType === "ed25519") return key;
    throw new CollectorError("config-invalid", `license.issuer_files: ${path} holds a key of type ${key.asymmetricKeyType}, not Ed25519`);
  });
}

/** Checks signature and shape, offline; never throws, whatever the text is. @see RFC 7515, RFC 8037 section 3.1 */
export async function verifyLicense(text: string, issuers: readonly KeyObject[]): Promise<Verified> {
  for (const issuer of issuers) {
    try {
      const { payload, protectedHeader } = await compactVerify(text, issuer, { algorithms: ["EdDSA"] });
      if (protectedHeader.typ !== LICENSE_TYPE) return { ok: false, message: `not a license: its header's typ is not ${LICENSE_TYPE}` };
      const claims = LicenseClaims.safeParse(JSON.parse(new TextDecoder().decode(payload)));
      if (claims.success) return { ok: true, claims: claims.data };
      const [issue] = claims.error.issues;
      return { ok: false, message: `not a license: ${issue ? `${issue.path.join(".")}: ${issue.message}` : "it says something else"}` };
    } catch {
      // Of another issuer, or nothing that anybody signed.
    }
  }
  return { ok: false, message: "not signed by an issuer that this deployment trusts (license.issuer_files)" };
}
