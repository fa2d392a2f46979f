import type { AnomalyModel } from "@lanthorn/contract";

/** What a probe can learn of other devices from where it is, in words; null where it sees all, or that is not known. */
export function limitOfReach(otherHosts: AnomalyModel["other_hosts"]): string | null {
  if (otherHosts === "none") return "The probe is at an access port: of other devices it learns only presence, DHCP and other broadcasts. Give it a mirror port to learn what they do.";
  return otherHosts === "one_way" ? "The probe sees only some of what other devices say. A mirror port in both directions shows it all." : null;
}
