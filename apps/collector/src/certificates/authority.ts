import { createHash, type KeyObject, createPrivateKey, randomBytes, webcrypto } from "node:crypto";
import type { Clock } from "@lanthorn/runtime";
import { CollectorError } from "../errors.ts";
import { type KeptSecrets, secretsInFiles } from "../sealing/kept-secrets.ts";
import { sanList } from "./names.ts";
import { parseCertificateRequest } from "./request.ts";
import { x509 } from "./x509.ts";

/** A private key (PKCS #8) and its certificate followed by the CA's, both PEM. */
export interface KeyAndCertificate {
  readonly key: string;
  readonly certificate: string;
}

interface IssuedCertificate {
  readonly certificate: string;
  readonly serial: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The collector's own certificate authority: its probes trust nothing else, and it trusts no other's certificates. */
export interface Authority {
  readonly certificate: string;
  /** SHA-256 of the CA's SubjectPublicKeyInfo, base64url: what an enrollment token carries. */
  readonly pin: string;
  /**
   * A certificate for the key in a probe's signing request. The name in the request is not looked at: the probe id is ours to give.
   * @returns `ok: false` with the reason in words for a request that cannot be honoured.
   */
  issueToProbe(
    probeId: string, requestPem: string,
  ): Promise<{ readonly ok: true; readonly issued: IssuedCertificate } | { readonly ok: false; readonly message: string }>;
  /** A new key with a certificate for a TLS server of these names and addresses. */
  issueToServer(names: readonly string[]): Promise<KeyAndCertificate>;
  /** A new key with a client certificate for this collector at an external broker. @param name One that can be no probe's. */
  issueToCollector(name: string): Promise<KeyAndCertificate>;
  /** A new Ed25519 key with a certificate for signing code, and nothing else: what signs a bundle for probes. Without the CA's behind it. */
  issueToSigner(): Promise<KeyAndCertificate>;
}

const DAY_MS = 86_400_000;
const CA_DAYS = 3650;
/** Renewed by the probe after two thirds; long enough for a site that is cut off for a month. */
const PROBE_DAYS = 90;
/** Apple's and the CA/Browser Forum's limit for servers; nothing longer is accepted by some clients. */
const SERVER_DAYS = 397;
/** A probe without a battery-backed clock may be behind ours at its first contact. */
const BACKDATE_MS = 3_600_000;
/** Of servers. */
const SERVER_NAME = "lanthorn-collector";
/** Of keys that sign bundles. */
const SIGNER_NAME = "lanthorn-bundles";
const EC = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/**
 * Opens the authority in `dataDir`, or where the deployment keeps its secrets, or makes it there at the first start: EC P-256, ten
 * years, key and certificate in one text, so that a crash leaves no key without its certificate.
 * @throws CollectorError `certificate-unusable` for a file that is there and cannot be used; it is never replaced, because every probe
 * pins it.
 */
export async function openAuthority(
  deps: { readonly dataDir: string; readonly secrets?: KeptSecrets; readonly clock: Pick<Clock, "now"> },
): Promise<Authority> {
  const { secrets = secretsInFiles(deps.dataDir) } = deps;
  try {
    return await useCa(await secrets.keep("ca.pem", () => createCa(deps.clock.now())), deps.clock);
  } catch (cause) {
    if (cause instanceof CollectorError) throw cause;
    const place = deps.secrets ? "the database" : deps.dataDir;
    throw new CollectorError(
      "certificate-unusable", `cannot use the certificate authority in ${place}: restore it from a backup`, { cause },
    );
  }
}

async function createCa(now: number): Promise<string> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const id = randomBytes(4).toString("hex");
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    // The number keeps two collectors' authorities apart in a trust store.
    name: [{ CN: [`Lanthorn CA ${id}`] }],
    notBefore: new Date(now - BACKDATE_MS),
    notAfter: new Date(now + CA_DAYS * DAY_MS),
    keys,
    signingAlgorithm: EC,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${await privateKeyPem(keys.privateKey)}${certificate.toString("pem")}\n`;
}

async function useCa(text: string, clock: Pick<Clock, "now">): Promise<Authority> {
  const ca = new x509.X509Certificate(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(text)?.[0] ?? "");
  const signingKey = await importSigningKey(createPrivateKey(text));
  const certificatePem = `${ca.toString("pem")}\n`;

  const issue = async (options: {
    readonly name: string;
    readonly publicKey: x509.PublicKeyType;
    readonly days: number;
    readonly extensions: x509.Extension[];
  }) =>
    x509.X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject: [{ CN: [options.name] }],
      issuer: ca.subjectName,
      notBefore: new Date(clock.now() - BACKDATE_MS),
      notAfter: new Date(Math.min(clock.now() + options.days * DAY_MS, ca.notAfter.getTime())),
      signingKey,
      publicKey: options.publicKey,
      signingAlgorithm: EC,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        await x509.AuthorityKeyIdentifierExtension.create(ca.publicKey),
        await x509.SubjectKeyIdentifierExtension.create(options.publicKey),
        ...options.extensions,
      ],
    });
  const issueWithKey = async (name: string, extensions: x509.Extension[]): Promise<KeyAndCertificate> => {
    const keys = await webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
    const certificate = await issue({ name, publicKey: keys.publicKey, days: SERVER_DAYS, extensions });
    return { key: await privateKeyPem(keys.privateKey), certificate: `${certificate.toString("pem")}\n${certificatePem}` };
  };

  return {
    certificate: certificatePem,
    pin: createHash("sha256").update(new Uint8Array(ca.publicKey.rawData)).digest("base64url"),
    async issueToProbe(probeId, requestPem) {
      const request = await parseCertificateRequest(requestPem);
      if (!request.ok) return request;
      const certificate = await issue({
        name: probeId, publicKey: request.publicKey, days: PROBE_DAYS,
        extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
      });
      return {
        ok: true,
        issued: {
          certificate: `${certificate.toString("pem")}\n`, serial: certificate.serialNumber, expiresAt: certificate.notAfter.getTime(),
        },
      };
    },
    // Clients read the alternative names only, and a common name may not be longer than 64.
    issueToServer: (names) => issueWithKey(SERVER_NAME, [
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(sanList(names)),
    ]),
    async issueToSigner() {
      const keys = await webcrypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"]) as webcrypto.CryptoKeyPair;
      const extensions = [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.codeSigning])];
      const certificate = await issue({ name: SIGNER_NAME, publicKey: keys.publicKey, days: CA_DAYS, extensions });
      return { key: await privateKeyPem(keys.privateKey), certificate: `${certificate.toString("pem")}\n` };
    },
    issueToCollector: (name) => issueWithKey(name, [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])]),
  };
}

/** 127 random bits and never negative. @see RFC 5280 section 4.1.2.2 */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] as number) & 0x7f | 0x40;
  return bytes.toString("hex");
}

async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  return `${x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY")}\n`;
}

function importSigningKey(key: KeyObject): Promise<webcrypto.CryptoKey> {
  return webcrypto.subtle.importKey("pkcs8", key.export({ format: "der", type: "pkcs8" }), EC, false, ["sign"]);
}
