import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTextFile } from "@lanthorn/runtime";
import { CollectorError } from "../errors.ts";
import type { Authority } from "./authority.ts";
import { writeSecretFile } from "../sealing/secret-file.ts";
import { sanList } from "./names.ts";

const CA_FILE = "ca.crt";

/** Leaves the authority's certificate, without its key, in the data directory: for `lanthorn login --ca` and for brokers. */
export function publishCaCertificate(dataDir: string, authority: Pick<Authority, "certificate">): void {
  const path = join(dataDir, CA_FILE);
  if (readTextFile(path) !== authority.certificate) writeFileSync(path, authority.certificate, { mode: 0o644 });
}

/**
 * Writes what an external broker needs to be trusted by probes and collector: `broker.pem` (its certificate and the CA's), `broker.key`,
 * and `ca-certificate.pem`, by which it knows who may come in.
 * @param options.authority Opened only where there is one: made here, by root, it would be unreadable for the collector's own user.
 * @returns The three paths.
 * @throws CollectorError `certificate-unusable` where the collector has made no authority yet, a name is none, or nothing can be written.
 */
export async function writeBrokerCertificate(options: {
  readonly dataDir: string;
  readonly authority: () => Promise<Pick<Authority, "certificate" | "issueToServer">>;
  readonly names: readonly string[];
  readonly directory: string;
}): Promise<readonly string[]> {
  const { dataDir, names, directory } = options;
  const wrong = names.find((name) => sanList([name]).length === 0);
  if (wrong !== undefined) {
    throw new CollectorError("certificate-unusable", `--name: ${JSON.stringify(wrong)} is neither a host's name nor an address`);
  }
  if (readTextFile(join(dataDir, CA_FILE)) === null) {
    const advice = "start the collector once, it creates one";
    throw new CollectorError("certificate-unusable", `there is no certificate authority in ${dataDir} yet: ${advice}`);
  }
  const authority = await options.authority();
  const issued = await authority.issueToServer(names);
  const certificate = join(directory, "broker.pem");
  const key = join(directory, "broker.key");
  const ca = join(directory, "ca-certificate.pem");
  try {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    writeFileSync(certificate, issued.certificate, { mode: 0o644 });
    writeSecretFile(key, issued.key, { replace: true });
    writeFileSync(ca, authority.certificate, { mode: 0o644 });
  } catch (cause) {
    throw new CollectorError("certificate-unusable", `cannot write the broker's certificate into ${directory}`, { cause });
  }
  return [certificate, key, ca];
}
