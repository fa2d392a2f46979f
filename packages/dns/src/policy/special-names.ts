import type { Policy } from "./policy.ts";
import type { VerdictReason } from "./verdict.ts";

/** Names by whose absence a network asks devices to use its resolver, and whose policy decides on them. */
const SPECIAL_NAMES: Readonly<Record<string, { readonly reason: Extract<VerdictReason, "private-relay" | "browser-dns">; readonly text: string }>> = {
  "mask.icloud.com": { reason: "private-relay", text: "iCloud Private Relay" },
  "mask-h2.icloud.com": { reason: "private-relay", text: "iCloud Private Relay" },
  "use-application-dns.net": { reason: "browser-dns", text: "the browser's own resolver" },
};

/** @returns What a name is for where the policy denies it, or null. */
export function deniedSpecialName(name: string, policy: Pick<Policy, "privateRelay" | "browserDns">): (typeof SPECIAL_NAMES)[string] | null {
  const lower = name.toLowerCase();
  const special = Object.hasOwn(SPECIAL_NAMES, lower) ? SPECIAL_NAMES[lower] : undefined;
  if (!special) return null;
  return (special.reason === "private-relay" ? policy.privateRelay : policy.browserDns) === "block" ? special : null;
}
