import { createLink, type Link, type LinkFacts } from "../capture/link.ts";

/** The link of the moment, and whether it is another than before. */
export interface LinkState {
  readonly facts: LinkFacts | null;
  /** Null while the interface has no link, up or down. */
  readonly link: Link | null;
  /** Null while nothing can be sent. */
  readonly up: Link | null;
  /** Reads the interface. @returns The link as it was before, where it is another one now; null where nothing has changed. */
  refresh(): { readonly before: Link | null } | null;
}

/** @param interfaceFacts The interface as it is; another object only after a change. */
export function createLinkState(interfaceFacts: () => LinkFacts | null): LinkState {
  let facts: LinkFacts | null = null;
  let link: Link | null = null;
  return {
    get facts() {
      return facts;
    },
    get link() {
      return link;
    },
    get up() {
      return link?.up ? link : null;
    },
    refresh() {
      const current = interfaceFacts();
      if (current === facts) return null;
      facts = current;
      const before = link;
      link = createLink(facts);
      return link?.fingerprint === before?.fingerprint ? null : { before };
    },
  };
}
