import { createHmac, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "../../atomic-file.ts";

const SEED_OCTETS = 32;

/**
 * What makes a decoy one of its own, made at its first start and the same ever since: decoys whose serial numbers are alike give each other away.
 * @returns What derives up to 32 octets for a name.
 */
export function decoySeed(dataDir: string, hostname: string): (name: string, octets: number) => Buffer {
  const file = join(dataDir, "seed");
  if (!existsSync(file)) writeFileAtomically(file, `${randomBytes(SEED_OCTETS).toString("hex")}\n`, { mode: 0o600, durable: true });
  const seed = readFileSync(file, "utf8").trim();
  return (name, octets) => createHmac("sha256", seed).update(`${hostname.toLowerCase()} ${name}`).digest().subarray(0, octets);
}
