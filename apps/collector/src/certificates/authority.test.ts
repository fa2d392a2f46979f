import { createHash, createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, createId, seededRandom, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openAuthority } from "./authority.ts";
import { createRequest } from "./testing/request.ts";
import { x509 } from "./x509.ts";

let dataDir = "";
beforeEach(() => void (dataDir = mkdtempSync(join(tmpdir(), "lanthorn-ca-"))));
afterEach(() => rmSync(dataDir, { recursive: true }));

const DAY_MS = 86_400_000;

describe("the authority", () => {
  test("is made once, with its key for its owner only, and is the same after a restart", async () => {
    const first = await openAuthority({ dataDir, clock: systemClock });
    const again = await openAuthority({ dataDir, clock: systemClock });
    expect(again.pin).toBe(first.pin);
    expect(again.certificate).toBe(first.certificate);
    expect(readdirSync(dataDir)).toEqual(["ca.pem"]);
    expect(statSync(join(dataDir, "ca.pem")).mode & 0o777).toBe(0o600);
  });

  test("of two processes that make it at once there is one", async () => {
    const both = await Promise.all([openAuthority({ dataDir, clock: systemClock }), openAuthority({ dataDir, clock: systemClock })]);
    expect(both[0].pin).toBe(both[1].pin);
  });

  test("is P-256, may sign certificates and nothing below it may, lasts ten years, and its pin is over its public key", async () => {
    const authority = await openAuthority({ dataDir, clock: systemClock });
    const certificate = new X509Certificate(authority.certificate);
    expect(certificate.ca).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
    expect(Math.round((Date.parse(certificate.validTo) - Date.now()) / DAY_MS)).toBe(3650);
    const spki = certificate.publicKey.export({ format: "der", type: "spki" });
    expect(authority.pin).toBe(createHash("sha256").update(spki).digest("base64url"));
    expect(new x509.X509Certificate(authority.certificate).getExtension(x509.BasicConstraintsExtension)?.pathLength).toBe(0);
  });

  test("that cannot be read stops the start and stays as it is", async () => {
    writeFileSync(join(dataDir, "ca.pem"), "not a key");
    await expect(openAuthority({ dataDir, clock: systemClock })).rejects.toMatchObject({ code: "certificate-unusable" });
    expect(readFileSync(join(dataDir, "ca.pem"), "utf8")).toBe("not a key");
  });
});

describe("a probe's certificate", () => {
  test("has the identity that we give and not the one that was asked for, is for clients only, and lasts 90 days", async () => {
    const clock = createFakeClock(Date.now());
    const authority = await openAuthority({ dataDir, clock });
    const probeId = createId();
    const { key, request } = await createRequest({ name: "00000000-0000-7000-8000-000000000000" });
    const result = await authority.issueToProbe(probeId, request);
    if (!result.ok) throw new Error(result.message);
    const certificate = new X509Certificate(result.issued.certificate);
    expect(certificate.subject).toBe(`CN=${probeId}`);
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(certificate.ca).toBe(false);
    expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
    expect(certificate.checkIssued(new X509Certificate(authority.certificate))).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(certificate.serialNumber.toLowerCase()).toBe(result.issued.serial);
    expect(Date.parse(certificate.validTo)).toBe(Math.floor(result.issued.expiresAt / 1000) * 1000);
    expect(Math.round((result.issued.expiresAt - clock.now()) / DAY_MS)).toBe(90);
  });

  test.each(["P-256", "P-384", "Ed25519", "RSA-2048"] as const)("is given for a %s key", async (kind) => {
    const authority = await openAuthority({ dataDir, clock: systemClock });
    expect(await authority.issueToProbe(createId(), (await createRequest({ kind })).request)).toMatchObject({ ok: true });
  });

  test.each(["P-521", "RSA-1024"] as const)("is refused for a %s key", async (kind) => {
    const authority = await openAuthority({ dataDir, clock: systemClock });
    expect(await authority.issueToProbe(createId(), (await createRequest({ kind })).request)).toMatchObject({ ok: false });
  });

  test("is refused to who cannot show the key: the public key of another in one's own request", async () => {
    const authority = await openAuthority({ dataDir, clock: systemClock });
    const mine = Buffer.from(new x509.Pkcs10CertificateRequest((await createRequest()).request).rawData);
    const theirs = new x509.Pkcs10CertificateRequest((await createRequest()).request);
    const ownKey = Buffer.from(new x509.Pkcs10CertificateRequest(mine).publicKey.rawData);
    const stolen = Buffer.from(theirs.publicKey.rawData);
    const at = mine.indexOf(ownKey);
    stolen.copy(mine, at);
    expect(createPublicKey({ key: stolen, format: "der", type: "spki" }).asymmetricKeyType).toBe("ec");
    const forged = x509.PemConverter.encode(mine, "CERTIFICATE REQUEST");
    expect(await authority.issueToProbe(createId(), forged)).toMatchObject({ ok: false });
  });

  test("is refused for what is no request, and for 2,000 damaged ones", async () => {
    const authority = await openAuthority({ dataDir, clock: systemClock });
    for (const text of ["", "x", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----", authority.certificate]) {
      expect(await authority.issueToProbe(createId(), text)).toMatchObject({ ok: false });
    }
    const { key, request } = await createRequest();
    const der = Buffer.from(new x509.Pkcs10CertificateRequest(request).rawData);
    const random = seededRandom(20_261_120);
    for (let round = 0; round < 2000; round += 1) {
      const damaged = Buffer.from(der.subarray(0, random(4) === 0 ? random(der.length) : der.length));
      for (let bytes = 1 + random(3); bytes > 0 && damaged.length > 0; bytes -= 1) damaged[random(damaged.length)] = random(256);
      const result = await authority.issueToProbe(createId(), x509.PemConverter.encode(damaged, "CERTIFICATE REQUEST"));
      // Damage outside of what is signed (a bit string's padding) changes nothing that counts.
      if (result.ok) expect(new X509Certificate(result.issued.certificate).checkPrivateKey(createPrivateKey(key))).toBe(true);
    }
  });
});
