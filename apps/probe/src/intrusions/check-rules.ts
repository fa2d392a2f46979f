import { readIdsBundle } from "@lanthorn/contract/uplink";
import { parseRulesInSteps } from "@lanthorn/ids";
import type { BundleFiles } from "../bundles/manifest.ts";
import { ProbeError } from "../errors.ts";

/** Of its rules at least so many must be readable; less means that they are damaged, or are written for another engine. */
const MIN_READABLE = 0.5;

/** Tries a bundle of rules as the engine reads it. @throws ProbeError `bundle-refused`. */
export function checkRules(files: BundleFiles): Promise<void> {
  const read = readIdsBundle(files);
  if (!read.ok) throw new ProbeError("bundle-refused", read.message);
  const steps = parseRulesInSteps(read.bundle.rules, { addresses: read.bundle.index.addresses, ports: read.bundle.index.ports });
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { rules, refusedCount, refusals } = step.value;
  if (rules.length < (rules.length + refusedCount) * MIN_READABLE) {
    const first = refusals[0] ? `; the first is rule ${refusals[0].id ?? "without a number"}: ${refusals[0].keyword}: ${refusals[0].reason}` : "";
    throw new ProbeError("bundle-refused", `${refusedCount} of ${rules.length + refusedCount} rules cannot be read${first}`);
  }
  return Promise.resolve();
}
