import { readFileSync, statSync } from "node:fs";

const READABLE_BY_OTHERS = 0o004;
/** Keys of the configuration that hold secrets, and a database's URL with a password in it. */
const SECRET = /^[ \t]*(?:secret|password|sealing_key|nvd_api_key)[ \t]*=|^[ \t]*url[ \t]*=[ \t]*["'][a-z]{1,16}:\/\/[^"'@:/]{0,255}:[^"'@]{1,1024}@/m;

/**
 * Whether a configuration file holds secrets and everybody on the machine may read it.
 * @returns False for a file that is not there.
 */
export function hasOpenSecrets(file: string): boolean {
  try {
    return (statSync(file).mode & READABLE_BY_OTHERS) !== 0 && SECRET.test(readFileSync(file, "utf8"));
  } catch {
    return false;
  }
}
