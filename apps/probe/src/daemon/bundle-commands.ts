import { installBundle } from "../bundles/install.ts";
import { openBundleStore } from "../bundles/store.ts";
import { ProbeError } from "../errors.ts";
import { readIdentity } from "../identity/identity.ts";
import { USED_BUNDLES } from "./bundle-kinds.ts";

/**
 * Tries what was fetched, uses it, prints which it is, and ends the process: to try databases takes seconds, in which the daemon would hear nothing.
 * @param withParent Ends when standard input does: a daemon that was killed starts another one, and two at once would write to the same files.
 * @throws ProbeError `not-enrolled` or `bundle-refused`.
 */
export async function installBundleCommand(dataDir: string, name: string, withParent: boolean): Promise<never> {
  if (withParent) process.stdin.resume().once("close", () => process.exit(1));
  const identity = readIdentity(dataDir);
  const kind = USED_BUNDLES.find((one) => one.name === name);
  if (!identity) throw new ProbeError("not-enrolled", "this machine is not enrolled: no collector gives it anything");
  if (!kind) throw new ProbeError("bundle-refused", `this probe has no use for ${name}; it uses: ${USED_BUNDLES.map((one) => one.name).join(", ")}`);
  const version = await installBundle(kind, { dataDir, caCertificate: identity.ca_certificate });
  process.stdout.write(`${JSON.stringify({ name, version })}\n`);
  // Standard input, which is waited for, would keep it alive.
  process.exit(0);
}

/** Prints which versions are used, a line each. */
export function listBundlesCommand(dataDir: string): void {
  for (const { name } of USED_BUNDLES) {
    const { currentNumber, rejected } = openBundleStore(dataDir, name).record();
    process.stdout.write(`${JSON.stringify({ name, version: currentNumber || null, rejected })}\n`);
  }
}
