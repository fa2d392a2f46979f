import type { LearnedRow } from "../../guard.ts";
import { bindingAddress, type BindingTable, bindingText } from "../binding-table.ts";
import { macText } from "../mac-number.ts";
import type { Roles } from "./roles.ts";

/** Gateways and servers whose MAC is known, for people to read. */
export function learnedRows({ roles, table }: { readonly roles: Roles; readonly table: BindingTable }): readonly LearnedRow[] {
  return [...new Set(roles.addresses())].flatMap((key) => {
    const binding = table.find(bindingAddress({ key }), 0);
    if (!binding?.isTrusted) return [];
    const macs = [...new Set([binding.mac, ...binding.members])].map(macText);
    return [{ guard: "ARP and NDP", what: roles.roleOf(binding), name: bindingText(binding), macs, vlanId: null, facts: {} }];
  });
}
