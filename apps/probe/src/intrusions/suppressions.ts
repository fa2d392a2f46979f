/** What somebody does not want to hear of, as it came with the rules. */
import { compileIdsSuppressions, type IdsSuppressions, type IdsSuppression } from "@lanthorn/contract/uplink";
import type { Finding } from "./finding.ts";

/** The suppressions that hold now. */
export interface Suppressions {
  /** @returns The id of one that fits, or null. */
  find(finding: Finding, subjectIp: string): string | null;
  /** Others hold from now on. */
  take(list: readonly IdsSuppression[]): void;
}

/** @param deps.macAt The MAC of a host of the site; "" where it is not known. */
export function createSuppressions(deps: { readonly macAt: (ip: string) => string; readonly now: () => number }): Suppressions {
  let compiled: IdsSuppressions = compileIdsSuppressions([]);
  let isEmpty = true;
  return {
    find({ rule, source, destination }, subjectIp) {
      if (isEmpty) return null;
      return compiled.find({
        signatureId: rule.id, generatorId: rule.gid, message: rule.message, className: rule.className === "" ? rule.category : rule.className,
        sourceIp: source.ip, destinationIp: destination.ip, internalMac: deps.macAt(subjectIp),
      }, deps.now());
    },
    take(list) {
      compiled = compileIdsSuppressions(list);
      isEmpty = list.length === 0;
    },
  };
}
