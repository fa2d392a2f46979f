export { FingerprintsError } from "./errors.ts";
export { createVendorLookup, type VendorLookup } from "./vendor.ts";
