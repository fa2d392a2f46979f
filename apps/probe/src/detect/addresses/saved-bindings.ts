import type { Binding } from "./binding.ts";
import { parseIp } from "@lanthorn/packets";
import * as z from "zod";
import type { LearnedStore } from "../learned/learned-store.ts";
import { type BindingTable, bindingText } from "./binding-table.ts";

/** Trusted bindings, kept over restarts. */
export interface SavedBindings {
  /** Fills the table with what an earlier run trusted. */
  load(table: BindingTable, now: number): void;
  save(binding: Binding): void;
}

const SCOPE = "bindings";
/** The owner first, then those that had the address in turn with it. */
const Macs = z.array(z.int().min(0).max(2 ** 48 - 1)).min(1).max(32);

/** As many as the store takes of one scope. */
export function createSavedBindings(store: LearnedStore): SavedBindings {
  return {
    load(table, now) {
      for (const [key, value] of store.load(SCOPE)) {
        const [vlan = "", ip = ""] = key.split(" ");
        const bytes = parseIp(ip);
        const macs = Macs.safeParse(value);
        const binding = bytes && macs.success ? table.add(bytes, Number(vlan), macs.data[0] as number, now) : null;
        if (!binding || !macs.success) continue;
        binding.members = macs.data.slice(1);
        table.trust(binding);
      }
    },
    save: (binding) => void store.put(SCOPE, `${binding.vlanId} ${bindingText(binding)}`, [binding.mac, ...binding.members]),
  };
}
