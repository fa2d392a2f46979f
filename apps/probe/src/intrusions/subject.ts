/** Which host of the site a finding is about. */
import type { End, Finding } from "./finding.ts";

/**
 * The host of the site. Where both ends are of the site, the attacked one by the rule's own word, else the one that asked, for it began.
 * @param isInternal Whether an address is one of the site.
 */
export function sidesOf(
  { source, destination, target, direction }: Pick<Finding, "source" | "destination" | "target" | "direction">, isInternal: (ip: string) => boolean,
): { readonly subject: End; readonly peer: End } {
  const isSource = isInternal(source.ip);
  const isDestination = isInternal(destination.ip);
  const isAboutSource = isSource === isDestination ? (target === null ? direction !== "to-client" : target === "source") : isSource;
  return isAboutSource ? { subject: source, peer: destination } : { subject: destination, peer: source };
}
