/** Which application a flow has, by the first bytes of either side. */

import { recognizeDatagram, recognizeStream } from "@lanthorn/traffic";
import type { Application, FirstBytes } from "../../applications/application.ts";

/** What is known by now. */
export type Recognized =
  | { readonly kind: "more" | "nothing" }
  /** `application` is null for a protocol that is known by its name alone. */
  | { readonly kind: "found"; readonly name: string; readonly application: Application | null };

/** Names of packages/traffic that are others in rules. */
const RULE_NAMES: Readonly<Record<string, string>> = { dhcpv6: "dhcp" };

/** Asks the applications' own recognition first, then that of packages/traffic for those that leave it to that. */
export function recognize(first: FirstBytes, applications: readonly Application[]): Recognized {
  const { transport } = first.flow;
  let needsMore = false;
  for (const application of applications) {
    if (application.recognize === null || !application.transports.includes(transport)) continue;
    const verdict = application.recognize(first);
    if (verdict === "yes") return { kind: "found", name: application.name, application };
    needsMore ||= verdict === "more";
  }
  const service = transport === "tcp" ? recognizeStream(first.bytes, first.other) : recognizeDatagram(first.bytes);
  if (service === "more") return { kind: "more" };
  const owner = applications.find((application) => application.service === service && application.transports.includes(transport));
  if (service !== "" && owner?.recognize == null) return { kind: "found", name: owner?.name ?? RULE_NAMES[service] ?? service, application: owner ?? null };
  return { kind: needsMore ? "more" : "nothing" };
}
