import type { Binding } from "./binding.ts";
import { parseIp } from "@lanthorn/packets";
import * as z from "zod";
import type { LearnedStore } from "../learned/learned-store.ts";
import type { Roles } from "./roles/roles.ts";
import { type BindingTable, bindingText } from "./binding-table.ts";

/** Trusted bindings, kept over restarts. */
export interface SavedBindings {
  /** Fills the table with what an earlier run trusted. */
  load(table: BindingTable, now: number): void;
  /** Where the store is full, one that nobody has claimed for a day gives way, and to a gateway or server any host. */
  save(binding: Binding, now: number): void;
}

const SCOPE = "bindings";
/** The owner first, then those that had the address in turn with it. */
const Macs = z.array(z.int().min(0).max(2 ** 48 - 1)).min(1).max(32);
const MAX_VLAN = 4095;
const FORGOTTEN_MS = 86_400_000;
/** So many are looked at for each newcomer. */
const LOOKS = 8;

/** As many as the store takes of one scope. @param roles Say who is no host. */
export function createSavedBindings(store: LearnedStore, roles: Pick<Roles, "roleOf">): SavedBindings {
  const saved = new Map<string, Binding>();
  const isHost = (binding: Binding) => roles.roleOf(binding) === "host";
  let oldest = saved.entries();

  function makeRoom(isImportant: boolean, now: number): void {
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const { value, done } = oldest.next();
      if (done === true) oldest = saved.entries();
      else {
        const [key, binding] = value;
        saved.delete(key);
        if (isHost(binding) && (isImportant || now - binding.seenAt >= FORGOTTEN_MS)) return store.remove(SCOPE, key);
        saved.set(key, binding);
      }
    }
  }
  return {
    load(table, now) {
      for (const [key, value] of store.load(SCOPE)) {
        const [vlan = "", ip = ""] = key.split(" ");
        const bytes = parseIp(ip);
        const macs = Macs.safeParse(value);
        const isRead = bytes && macs.success && Number(vlan) >= 0 && Number(vlan) <= MAX_VLAN;
        const binding = isRead ? table.add(bytes, Number(vlan), macs.data[0] as number, now) : null;
        if (!binding || !macs.success) {
          if (!isRead) store.remove(SCOPE, key);
          continue;
        }
        binding.members = macs.data.slice(1);
        table.trust(binding, now);
        saved.set(key, binding);
      }
    },
    save(binding, now) {
      const key = `${binding.vlanId} ${bindingText(binding)}`;
      const macs = [binding.mac, ...binding.members];
      if (!store.put(SCOPE, key, macs)) {
        makeRoom(!isHost(binding), now);
        if (!store.put(SCOPE, key, macs)) return;
      }
      saved.set(key, binding);
    },
  };
}
