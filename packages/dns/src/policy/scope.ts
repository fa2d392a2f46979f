import type { DnsClient, Policy, PolicyScope } from "./policy.ts";

/** From the most specific to the widest. */
const ORDER: readonly PolicyScope["kind"][] = ["device", "group", "vlan", "site", "everyone"];

/** Whether a client is one of those for whom something holds. */
export function isInScope(scope: PolicyScope, client: DnsClient): boolean {
  switch (scope.kind) {
    case "device":
      return scope.id === client.deviceId;
    case "group":
      return client.groupIds.includes(scope.id);
    case "vlan":
      return scope.siteId === client.siteId && scope.vlanId === client.vlanId;
    case "site":
      return scope.id === client.siteId;
    case "everyone":
      return true;
    default:
      return scope satisfies never;
  }
}

/** The policies in the order in which they are tried; those of one kind of scope keep theirs. */
export function orderPolicies<T extends Pick<Policy, "scope">>(policies: readonly T[]): readonly T[] {
  return ORDER.flatMap((kind) => policies.filter(({ scope }) => scope.kind === kind));
}
