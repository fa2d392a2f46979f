import { X509Certificate } from "node:crypto";
import { dirname, join } from "node:path";
import { Id } from "@lanthorn/contract/uplink";
import * as z from "zod";
import { readTextFile } from "@lanthorn/runtime";
import { giveToOwner, writeFileAtomically } from "../atomic-file.ts";
import { ProbeError } from "../errors.ts";

/**
 * Who this probe is. One file holds all of it, so that a crash at enrollment or renewal never leaves a key without its
 * certificate.
 */
const Identity = z.object({
  probe_id: Id,
  tenant_id: Id,
  site_id: Id,
  name: z.string(),
  /** Where renewal goes. */
  collector_url: z.string(),
  /** `pinned`: the collector itself answers there, under its own CA. `public`: something with a public certificate in front of it does. */
  trust: z.enum(["pinned", "public", "loopback"]),
  mqtt_url: z.string(),
  /** PKCS #8 in PEM. Made here, and never leaves this machine. */
  private_key: z.string(),
  certificate: z.string(),
  ca_certificate: z.string(),
});
/** Who this probe is, with its private key: to be kept out of logs and of the status. */
export type Identity = z.infer<typeof Identity>;

/** `identity/identity.json` in the data directory, whether or not it is there. */
export function identityPath(dataDir: string): string {
  return join(dataDir, "identity", "identity.json");
}

/**
 * @returns Null where this machine was never enrolled.
 * @throws ProbeError `not-enrolled` for a file that cannot be used.
 */
export function readIdentity(dataDir: string): Identity | null {
  const path = identityPath(dataDir);
  try {
    const text = readTextFile(path);
    return text === null ? null : Identity.parse(JSON.parse(text));
  } catch (cause) {
    // zod's own message would quote the file, and the key is in it.
    const reason = (cause as NodeJS.ErrnoException).code ?? "not an identity";
    throw new ProbeError("not-enrolled", `cannot use ${path} (${reason}): restore it, or enroll again with --force`);
  }
}

/**
 * Writes the identity readable for the data directory's owner only: for the service's user, when root enrolls for it.
 * @throws NodeJS.ErrnoException as the file system says.
 */
export function writeIdentity(dataDir: string, identity: Identity): void {
  const path = identityPath(dataDir);
  writeFileAtomically(path, `${JSON.stringify(identity, null, 2)}\n`, { mode: 0o600, durable: true });
  giveToOwner(dataDir, [path, dirname(path)]);
}

/** Milliseconds since the epoch between which the probe's certificate is good. */
export function certificateLifetime(identity: Pick<Identity, "certificate">): { readonly from: number; readonly to: number } {
  const certificate = new X509Certificate(identity.certificate);
  return { from: Date.parse(certificate.validFrom), to: Date.parse(certificate.validTo) };
}
