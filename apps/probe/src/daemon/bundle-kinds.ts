import { BUNDLE_KINDS } from "@lanthorn/contract/uplink";
import type { BundleKind } from "../bundles/install.ts";
import { BLOCK_LISTS, COUNTRIES, FINGERPRINTS, INTRUSION_RULES } from "../bundles/names.ts";

/** Bundles of the collector's that this probe has a use for. What tries one is loaded when one has come. */
export const USED_BUNDLES: readonly BundleKind[] = [
  {
    name: FINGERPRINTS, maxBytes: BUNDLE_KINDS.fingerprints.maxBytes,
    check: async (files, dataDir) => void (await import("../fingerprints/update.ts")).checkDatabases(files, dataDir),
  },
  {
    name: INTRUSION_RULES, maxBytes: BUNDLE_KINDS.ids.maxBytes,
    check: async (files) => (await import("../intrusions/check-rules.ts")).checkRules(files),
  },
  {
    name: COUNTRIES, maxBytes: BUNDLE_KINDS.countries.maxBytes,
    check: async (files) => (await import("../traffic/anomalies/countries.ts")).checkCountries(files),
  },
  {
    name: BLOCK_LISTS, maxBytes: BUNDLE_KINDS.dns.maxBytes,
    check: async (files) => (await import("../dns-lists/check-lists.ts")).checkLists(files),
  },
];
