import { createPrivateKey, X509Certificate } from "node:crypto";
import { ProbeError } from "../errors.ts";
import { pinOf } from "./collector-trust.ts";

/**
 * Holds what a collector issued against what it was asked for, before anything old is replaced by it.
 * @throws ProbeError `wrong-pin` when the CA is not the one that the token names, `clock-skew` when the certificate is not
 * good now by this machine's clock, `not-a-collector` when it is not for this probe and its key.
 */
export function checkIssued(issued: {
  readonly certificate: string; readonly caCertificate: string; readonly caPin: string; readonly privateKey: string;
  readonly probeId: string; readonly now: number;
}): void {
  const certificate = read(issued.certificate);
  const ca = read(issued.caCertificate);
  if (pinOf(ca) !== issued.caPin) {
    throw new ProbeError(
      "wrong-pin",
      "the collector's CA is not the one that issued this token: check the address; if it is right, the connection may be intercepted",
    );
  }
  const names = certificate.subject.split("\n");
  if (!certificate.verify(ca.publicKey) || !certificate.checkPrivateKey(
    createPrivateKey(issued.privateKey),
  ) || !names.includes(`CN=${issued.probeId}`)) {
    throw new ProbeError("not-a-collector", "the received certificate is not for this probe and its key; nothing was changed");
  }
  if (issued.now < Date.parse(certificate.validFrom) || issued.now > Date.parse(certificate.validTo)) {
    throw new ProbeError("clock-skew", `the certificate is valid from ${certificate.validFrom} to ${certificate.validTo}, and this `
      + `machine's clock says ${new Date(issued.now).toISOString()}: set the clock (timedatectl), then enroll with a new token`);
  }
}

function read(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new ProbeError("not-a-collector", "the answer is not a certificate", { cause });
  }
}
