import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "../../atomic-file.ts";
import type { DecoyCertificate } from "./make-certificate.ts";

/** The decoy's own certificate, made at its first start and the same ever since: what changes at each start is no device. */
export async function decoyCertificate(dataDir: string, hostname: string, nowMs: number): Promise<DecoyCertificate> {
  const file = join(dataDir, `certificate-${hostname.toLowerCase()}.pem`);
  if (!existsSync(file)) {
    // Loaded only where one has to be made: it would cost 15 MB otherwise.
    const { certificate, key } = await (await import("./make-certificate.ts")).makeCertificate(hostname, nowMs);
    writeFileAtomically(file, `${key}\n${certificate}\n`, { mode: 0o600, durable: true });
  }
  const text = readFileSync(file, "utf8");
  return { certificate: text, key: text };
}
