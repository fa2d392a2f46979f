import { plain } from "../facts/plain.ts";

/** How a service compares to the one that was there: `finer` and `coarser` say the same with more or fewer words. */
export type ServiceChange = "same" | "finer" | "coarser" | "changed" | "replaced";

/** Names that say nothing of what is behind. */
const VAGUE: ReadonlySet<string> = new Set(["", "ssl", "unknown", "tcpwrapped"]);

/** Characters of a service as a fact has it. */
export const MAX_SERVICE = 255;

/** A service as a fact has it: its name, product and version, as far as they are known. */
export function serviceText({ service, version }: { readonly service: string; readonly version: string }): string {
  return plain(`${service} ${version}`, MAX_SERVICE);
}

/**
 * Compares a service with what is expected on its port.
 * @param expected As `serviceText` writes it, not empty. @param observed The same.
 * @returns `changed` for another version of the same product, `replaced` for another product.
 */
export function compareService(expected: string, observed: string): ServiceChange {
  if (expected === observed) return "same";
  const [before, after] = [partsOf(expected), partsOf(observed)];
  if (VAGUE.has(before.name) || observed.startsWith(`${expected} `)) return "finer";
  if (VAGUE.has(after.name) || expected.startsWith(`${observed} `)) return "coarser";
  if (before.product !== "" && after.product !== "") return before.product === after.product ? "changed" : "replaced";
  return before.name === after.name ? "changed" : "replaced";
}

/** The product is what stands between the name and the first word that begins with a digit. */
function partsOf(text: string): { readonly name: string; readonly product: string } {
  const [name = "", ...words] = text.toLowerCase().split(" ");
  const version = words.findIndex((word) => /^v?\d/.test(word));
  return { name, product: words.slice(0, version === -1 ? words.length : version).join(" ") };
}
