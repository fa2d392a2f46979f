import { readPem } from "../data-dir.ts";
import type { ServerCertificate } from "./server-certificate.ts";

/** What the configuration names for https, else what the collector's own authority has issued. */
export function ownPair({ https }: {
  readonly https: { readonly certificate_file?: string | undefined; readonly key_file?: string | undefined };
}, certificate: Pick<ServerCertificate, "current">) {
  if (https.certificate_file === undefined || https.key_file === undefined) return certificate.current();
  return { certificate: readPem(https.certificate_file), key: readPem(https.key_file) };
}
