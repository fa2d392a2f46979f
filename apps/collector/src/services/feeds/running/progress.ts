import { CveUpdateFeed } from "@lanthorn/contract";
import { parseJson } from "@lanthorn/runtime";
import * as z from "zod";

const Feeds = z.array(CveUpdateFeed);

/** How far an update is with each feed, as its row has it. */
export function parseProgress(text: string): readonly CveUpdateFeed[] {
  const parsed = Feeds.safeParse(parseJson(text));
  return parsed.success ? parsed.data : [];
}

/** How far an update is, while it runs. */
export interface Progress {
  feeds(): readonly CveUpdateFeed[];
  set(name: string, facts: Partial<Omit<CveUpdateFeed, "name">>): void;
  /** The feed that something was said of last, if anything was since this was called before. */
  changed(): CveUpdateFeed | null;
}

/** A feed before its turn. */
export function queued(name: string): CveUpdateFeed {
  return { name, state: "queued", bytes: 0, bytes_total: null, pages: 0, records: 0, records_total: null, error: null };
}

/** @param begun As an earlier process has left it. */
export function createProgress(begun: readonly CveUpdateFeed[]): Progress {
  const feeds = new Map(begun.map((feed) => [feed.name, feed]));
  let latest: string | null = null;
  return {
    feeds: () => [...feeds.values()],
    set(name, facts) {
      feeds.set(name, { ...(feeds.get(name) ?? queued(name)), ...facts });
      latest = name;
    },
    changed() {
      const feed = latest === null ? null : feeds.get(latest) ?? null;
      latest = null;
      return feed;
    },
  };
}
