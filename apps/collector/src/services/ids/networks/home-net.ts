import { DEFAULT_VARIABLES } from "@lanthorn/ids";
import { type AddressRange, covers, parseNetwork } from "../../../db/keys/address-range.ts";

/** As long as the value of a variable in a bundle may be. */
const MAX_VARIABLE = 4096;

/** The private networks that the engine takes for its own where nobody says anything. */
const PRIVATE: readonly string[] = DEFAULT_VARIABLES.addresses.HOME_NET.slice(1, -1).split(",");

/**
 * The networks of a plan together with private addresses, those that lie in others left out. A plan is seldom whole: a host whose network
 * is missing in it would be a stranger to every rule.
 * @returns Empty where the plan says nothing that private addresses do not.
 */
export function plannedNetworks(prefixes: readonly string[]): readonly string[] {
  const ranges = prefixes.flatMap((prefix) => parseNetwork(prefix) ?? []);
  const known = PRIVATE.flatMap((network) => parseNetwork(network) ?? []);
  const further = widest(ranges).filter((range) => !known.some((one) => covers(one, range)));
  return further.length === 0 ? [] : fitting([...PRIVATE, ...further.map(({ network }) => network)]);
}

/** Variables of rules for networks that are a site's own; none for none. */
export function variablesOf(networks: readonly string[]): Readonly<Record<string, string>> {
  return networks.length === 0 ? {} : { HOME_NET: listOf(networks) };
}

/** Whether a list fits into the variable. */
export function isFitting(networks: readonly string[]): boolean {
  return listOf(networks).length <= MAX_VARIABLE;
}

/** The largest first; none lies in another. */
function widest(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const kept: AddressRange[] = [];
  for (const range of ranges.toSorted((a, b) => b.hostBits - a.hostBits || (a.first < b.first ? -1 : 1))) {
    if (!kept.some((one) => covers(one, range))) kept.push(range);
  }
  return kept;
}

/** As many from the beginning as fit into the variable. */
function fitting(networks: readonly string[]): readonly string[] {
  let length = 1;
  const count = networks.findIndex((network) => (length += network.length + 1) > MAX_VARIABLE);
  return count < 0 ? networks : networks.slice(0, count);
}

function listOf(networks: readonly string[]): string {
  return `[${networks.join(",")}]`;
}
