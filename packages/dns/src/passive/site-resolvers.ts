/** The resolvers that the site names to its hosts. */
export interface SiteResolvers {
  /** DHCP named them. */
  add(addresses: readonly string[]): void;
  has(address: string): boolean;
  areKnown(): boolean;
  /** For people. */
  describe(): string;
}

const MAX_RESOLVERS = 16;
const SHOWN = 4;

/** @param given What somebody wrote down; with these, what DHCP says is not believed. */
export function createSiteResolvers(given: readonly string[]): SiteResolvers {
  const known = new Set<string>(given);
  return {
    add(addresses) {
      if (given.length > 0) return;
      for (const address of addresses) if (known.size < MAX_RESOLVERS) known.add(address);
    },
    has: (address) => known.has(address),
    areKnown: () => known.size > 0,
    describe: () => [...known].slice(0, SHOWN).join(", "),
  };
}
