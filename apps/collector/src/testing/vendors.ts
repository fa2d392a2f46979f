import { createVendorLookup, type VendorLookup } from "@lanthorn/fingerprints";

let lookup: VendorLookup | undefined;

/** Who made a MAC's interface, as the product says; loaded once for all of a file's tests. */
export function testVendorOf(): VendorLookup["vendorOf"] {
  lookup ??= createVendorLookup();
  return lookup.vendorOf;
}
