import { describeError, type Log } from "@lanthorn/runtime";
import { openBundleStore } from "./store.ts";

/** Fetches and installs versions of bundles, and remembers why the last one could not be. */
export interface VersionTaker {
  /** @returns Whether the version is used now, or is one that must not be used again: there is nothing more to do. */
  take(name: string, version: number): Promise<boolean>;
  /** Why the announced version of a bundle was not taken; undefined where it was. */
  error(name: string): string | undefined;
}

/** The contract's limit. */
export const MAX_ERROR_LENGTH = 512;

/**
 * @param deps.fetch Gets what is new of one. @throws what the operator is to read.
 * @param deps.install Verifies what has come, tries it, and puts it in the place of what is there. @throws what the operator is to read.
 * @param deps.signal Ends it: what is fetched or installed fails, and the log does not say so.
 */
export function createVersionTaker(deps: {
  readonly dataDir: string;
  readonly fetch: (name: string, signal: AbortSignal) => Promise<unknown>;
  readonly install: (name: string, signal: AbortSignal) => Promise<unknown>;
  readonly signal: AbortSignal;
  readonly log: Log;
}): VersionTaker {
  const { signal, log } = deps;
  const errors = new Map<string, string>();
  return {
    async take(name, version) {
      try {
        const store = openBundleStore(deps.dataDir, name);
        const { published, rejected } = store.record();
        if (version < published) throw new Error(`the collector announces version ${version}, which is older than ${published}`);
        if (version > published || (rejected?.number !== version && !(await store.isCurrentWhole()))) {
          await deps.fetch(name, signal);
          await deps.install(name, signal);
          log.info({ bundle: name, version: store.record().currentNumber }, "took a bundle from the collector");
        }
        errors.delete(name);
        return true;
      } catch (error) {
        const reason = describeError(error).slice(0, MAX_ERROR_LENGTH);
        if (!signal.aborted && errors.get(name) !== reason) {
          log.error({ bundle: name, version, reason }, "a bundle was not taken; the last good one stays");
        }
        errors.set(name, reason);
        return false;
      }
    },
    error: (name) => errors.get(name),
  };
}
