/**
 * Who made a network interface, from the first bits of its MAC address.
 * @see https://standards.ieee.org/products-programs/regauth/ : MA-L (24 bits), MA-M (28), MA-S and, until 2014, IAB (36)
 */
import { loadVendorRegistry } from "./vendor-registry.ts";

/** Hexadecimal digits of a prefix, longest first: a longer one is a part of a shorter one, given to somebody else. */
const PREFIX_DIGITS = [9, 7, 6] as const;

const MAC_ADDRESS = /^[0-9a-f]{2}([:-]?[0-9a-f]{2}){5}$/i;

/** Vendors of MAC addresses, from the IEEE registry in memory. */
export interface VendorLookup {
  /**
   * @param mac Twelve hexadecimal digits, with colons, hyphens or nothing between the pairs.
   * @returns The vendor as the registry spells it, without HTML's entities; empty where the registry names none, as for addresses that a
   * device made up for itself and for makers who want to stay private, and for text that is no MAC address.
   */
  vendorOf(mac: string): string;
}

/**
 * Loads the registry, in about 60 ms, into 2 MB. One for a process is enough.
 * @throws FingerprintsError `data-unreadable` when the package `oui-data` is missing or damaged.
 */
export function createVendorLookup(): VendorLookup {
  const registry = loadVendorRegistry();
  return {
    vendorOf(mac) {
      if (!MAC_ADDRESS.test(mac)) return "";
      const digits = mac.replaceAll(/[:-]/g, "");
      for (const length of PREFIX_DIGITS) {
        const vendor = registry.find(Number.parseInt(digits.slice(0, length), 16), length);
        if (vendor !== null) return vendor;
      }
      return "";
    },
  };
}
