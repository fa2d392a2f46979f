import { verify, X509Certificate } from "node:crypto";
import { BUNDLE_SIGNATURE_CONTEXT, BundleManifest, SignedBundle } from "@lanthorn/contract/uplink";
import { parseJson } from "@lanthorn/runtime";
import { ProbeError } from "../errors.ts";
import type { BundleStore } from "./store.ts";

/** `id-kp-codeSigning`. @see RFC 5280 section 4.2.1.12 */
const CODE_SIGNING = "1.3.6.1.5.5.7.3.3";

/**
 * Reads a manifest, once it is certain who signed it: a key that the CA pinned at enrollment has certified for signing code. A probe's own
 * certificate or a server's, of the same CA, signs nothing here. The certificate's dates are not looked at: a probe without a clock takes
 * bundles too, and what is older is refused by its version.
 * @param expected.caCertificate PEM, from the probe's identity.
 * @throws ProbeError `bundle-refused`.
 */
export function readSignedBundle(
  answer: unknown, expected: { readonly name: string; readonly caCertificate: string },
): BundleManifest {
  const refuse = (reason: string, cause?: unknown) =>
    new ProbeError("bundle-refused", `the bundle ${expected.name} is refused: ${reason}`, cause === undefined ? {} : { cause });
  const signed = SignedBundle.safeParse(answer);
  if (!signed.success) throw refuse("the collector's answer is not a signed manifest");
  const { manifest: text, signature, certificate } = signed.data;
  let isSigned = false;
  try {
    const [ca, signer] = [new X509Certificate(expected.caCertificate), new X509Certificate(certificate)];
    isSigned = signer.checkIssued(ca) && signer.verify(ca.publicKey) && !signer.ca && (signer.keyUsage ?? []).includes(CODE_SIGNING)
      && signer.publicKey.asymmetricKeyType === "ed25519"
      && verify(null, Buffer.from(`${BUNDLE_SIGNATURE_CONTEXT}${text}`), signer.publicKey, Buffer.from(signature, "base64"));
  } catch (cause) {
    throw refuse("its certificate or signature cannot be read", cause);
  }
  if (!isSigned) throw refuse("its signature is not by a key that the collector's CA has certified for it");
  const manifest = BundleManifest.safeParse(parseJson(text));
  if (!manifest.success) throw refuse("its manifest cannot be read");
  if (manifest.data.name !== expected.name) throw refuse(`it is the bundle ${manifest.data.name}`);
  return manifest.data;
}

/**
 * Whether a version may take the place of the one that is here.
 * @param at.maxBytes The most that a version of this kind may have.
 * @throws ProbeError `bundle-refused` for an older version, the one that is here, one that is too large, or one that names a file twice.
 */
export async function checkOffer(
  { name, version, parts }: BundleManifest, at: { readonly store: Pick<BundleStore, "record" | "isCurrentWhole">; readonly maxBytes: number },
): Promise<void> {
  const { published } = at.store.record();
  if (version < published || (version === published && await at.store.isCurrentWhole())) {
    throw new ProbeError("bundle-refused", `the collector offers version ${version} of ${name}, and version ${published} is here`);
  }
  const bytes = parts.reduce((sum, part) => sum + part.size, 0);
  if (bytes > at.maxBytes) throw new ProbeError("bundle-refused", `the bundle ${name} has ${bytes} bytes; at most ${at.maxBytes} are taken`);
  if (new Set(parts.map(({ path }) => path)).size < parts.length) throw new ProbeError("bundle-refused", `the bundle ${name} names a file twice`);
}
