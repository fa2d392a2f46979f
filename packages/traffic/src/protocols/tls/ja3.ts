/** JA3 and JA3S: what a hello offers, as numbers in decimal, hashed. @see https://github.com/salesforce/ja3#how-it-works */
import { createHash } from "node:crypto";
import { isGrease } from "./hello-extensions.ts";

const list = (numbers: readonly number[]) => numbers.filter((number) => !isGrease(number)).join("-");

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

/** Version, cipher suites, extensions, groups, point formats; without random values (RFC 8701). */
export function ja3OfClient(hello: {
  readonly legacyVersion: number;
  readonly cipherSuites: readonly number[];
  readonly extensions: readonly number[];
  readonly supportedGroups: readonly number[];
  readonly ecPointFormats: readonly number[];
}): { readonly ja3: string; readonly ja3Text: string } {
  const { legacyVersion, cipherSuites, extensions, supportedGroups, ecPointFormats } = hello;
  const ja3Text = [legacyVersion, list(cipherSuites), list(extensions), list(supportedGroups), ecPointFormats.join("-")].join(",");
  return { ja3: md5(ja3Text), ja3Text };
}

/** Version, cipher suite, extensions. */
export function ja3OfServer(hello: {
  readonly legacyVersion: number;
  readonly cipherSuite: number;
  readonly extensions: readonly number[];
}): { readonly ja3s: string; readonly ja3sText: string } {
  const ja3sText = [hello.legacyVersion, hello.cipherSuite, list(hello.extensions)].join(",");
  return { ja3s: md5(ja3sText), ja3sText };
}
