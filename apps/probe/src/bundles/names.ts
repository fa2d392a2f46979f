/** In which country addresses are registered: their folder in the data directory, and the bundle that the collector makes. */
export const COUNTRIES = "countries";
/** The databases of fingerprints, in the Recog format: their folder in the data directory, and the bundle that collectors publish. */
export const FINGERPRINTS = "fingerprints";
/** Names that the resolver blocks, and for whom: their folder, and the bundle that collectors make for each site. */
export const BLOCK_LISTS = "dns";
/** Rules of intrusion detection: their folder in the data directory, and the bundle that collectors make for each site. */
export const INTRUSION_RULES = "ids";
