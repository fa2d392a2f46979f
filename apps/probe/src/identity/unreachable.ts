import { describeError, systemClock, toInstant } from "@lanthorn/runtime";
import { codesOf } from "../error-codes.ts";
import { ProbeError } from "../errors.ts";

/** OpenSSL's words for a certificate whose time is not now. */
const TIME_CODES = new Set(["CERT_NOT_YET_VALID", "CERT_HAS_EXPIRED"]);

/** OpenSSL's words for a certificate that the trusted CA did not sign, or did not make for a server. */
const DISTRUST = /^(UNABLE_TO_|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED|SELF_SIGNED|DEPTH_ZERO|INVALID_|ERR_TLS_CERT_ALTNAME)/;

const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there; check that the collector runs and that the port is right",
  ENOTFOUND: "no such name; check the address, and this machine's name server",
  EAI_AGAIN: "the name could not be resolved; check this machine's name server",
  ETIMEDOUT: "no answer; check the address and firewalls on the path",
  UND_ERR_CONNECT_TIMEOUT: "no answer; check the address and firewalls on the path",
  EHOSTUNREACH: "no route to it; check the address and this machine's gateway",
  ENETUNREACH: "no route to it; check the address and this machine's gateway",
};

/** What a failed connection to the collector means, with what to do about it. */
export function unreachable(url: URL, cause: unknown): ProbeError {
  const codes = codesOf(cause);
  if (codes.some((code) => TIME_CODES.has(code))) {
    return new ProbeError("clock-skew", `by this machine's clock, ${toInstant(systemClock.now())}, the collector's certificate is not valid `
      + `now: set the clock (timedatectl), then try again`, { cause });
  }
  if (codes.some((code) => DISTRUST.test(code))) {
    return new ProbeError(
      "wrong-pin", `${url.host} has no certificate of the collector's CA: check the address; if it is right, the connection may be intercepted`,
      { cause },
    );
  }
  const advice = codes.map((code) => ADVICE[code]).find((text) => text !== undefined);
  if (advice !== undefined) return new ProbeError("unreachable", `cannot reach ${url.host}: ${advice}`, { cause });
  if (codes.some((code) => /^(EPROTO|ERR_SSL|ERR_TLS|HPE_)/.test(code))) {
    return new ProbeError("not-a-collector", `${url.host} answers, but not like a collector with TLS: check the port`, { cause });
  }
  return new ProbeError("unreachable", `cannot reach ${url.host}: ${describeError(cause)}`, { cause });
}
