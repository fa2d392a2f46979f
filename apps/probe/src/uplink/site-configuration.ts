import { ProbeConfiguration } from "@lanthorn/contract";
import { describeError, type Log } from "@lanthorn/runtime";
import { readTextFile, writeFileAtomically } from "../atomic-file.ts";
import { decodeMessage } from "./payload.ts";

/** What the collector wishes of this probe, kept over restarts: what may not be sent to stays so without a connection. */
export interface SiteConfiguration {
  /** The last one that was taken; null before the first. */
  current(): ProbeConfiguration | null;
  /** @param payload Whatever came on the topic; what is no configuration is left aside. */
  onMessage(payload: Uint8Array): void;
}

/**
 * @param deps.path Where the last one is kept.
 * @param deps.apply Lays it over the probe's own settings, which it can only narrow. @returns What is wrong with it, or null.
 */
export function createSiteConfiguration(deps: {
  readonly path: string;
  readonly apply: (configuration: ProbeConfiguration) => string | null;
  readonly log: Log;
}): SiteConfiguration {
  let current: ProbeConfiguration | null = null;

  function take(configuration: ProbeConfiguration): boolean {
    const wrong = deps.apply(configuration);
    if (wrong !== null) {
      deps.log.error({ revision: configuration.revision, reason: wrong }, "the collector's configuration cannot be used; the last one stays");
      return false;
    }
    current = configuration;
    return true;
  }

  const kept = read(deps.path);
  if (kept !== null) {
    const configuration = decodeMessage(ProbeConfiguration, Buffer.from(kept));
    if (configuration) take(configuration);
    else deps.log.warn({ path: deps.path }, "the kept configuration cannot be read; the probe's own file stands until the collector sends another");
  }

  return {
    current: () => current,
    onMessage(payload) {
      // What a broker sends for a retained message that was cleared.
      if (payload.length === 0) return;
      const configuration = decodeMessage(ProbeConfiguration, payload);
      if (!configuration) {
        deps.log.error({ bytes: payload.length }, "the collector sent a configuration that cannot be read; the last one stays");
        return;
      }
      if (!take(configuration)) return;
      deps.log.info({ revision: configuration.revision, site: configuration.site_name }, "took the collector's configuration");
      try {
        writeFileAtomically(deps.path, JSON.stringify(configuration), { mode: 0o600, durable: true });
      } catch (error) {
        deps.log.warn({ reason: describeError(error) }, "the collector's configuration could not be kept for the next start");
      }
    },
  };
}

function read(path: string): string | null {
  try {
    return readTextFile(path);
  } catch {
    return "";
  }
}
