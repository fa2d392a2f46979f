/** Keeps a promise in a set for as long as it goes on, so that whoever closes can wait for all. How it ends is for its maker. */
export function keepUntilDone(all: Set<Promise<unknown>>, one: Promise<unknown>): void {
  const done = one.catch(() => {}).finally(() => all.delete(done));
  all.add(done);
}
