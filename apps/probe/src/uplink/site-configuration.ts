import { ProbeConfiguration } from "@lanthorn/contract/uplink";
import { describeError, type Log, readTextFile } from "@lanthorn/runtime";
import { writeFileAtomically } from "../atomic-file.ts";
import { decodeMessage } from "./payload.ts";

/** The contract's limit. */
const MAX_ERROR_LENGTH = 512;

/** What the collector wishes of this probe, kept over restarts: what may not be sent to stays so without a connection. */
export interface SiteConfiguration {
  /** The last one that was taken; null before the first. */
  current(): ProbeConfiguration | null;
  /** Which one that is, and in words what is wrong with the last one that came, for the collector to know. */
  state(): { readonly revision: number | null; readonly error: string | null };
  /** @param payload Whatever came on the topic; what is no configuration is left aside. */
  onMessage(payload: Uint8Array): void;
}

/**
 * @param deps.path Where the last one is kept.
 * @param deps.apply Lays it over the probe's own settings, which it can only narrow. @returns What is wrong with it, or null.
 * @param deps.credentials Takes the sealed part of it. @returns What is wrong with that, or null.
 * @param deps.onState Called when `state` is another.
 */
export function createSiteConfiguration(deps: {
  readonly path: string;
  readonly apply: (configuration: ProbeConfiguration) => string | null;
  readonly credentials: (sealed: string | undefined) => Promise<string | null>;
  readonly onState: () => void;
  readonly log: Log;
}): SiteConfiguration {
  let current: ProbeConfiguration | null = null;
  let error: string | null = null;

  function say(wrong: string | null): void {
    error = wrong === null ? null : wrong.slice(0, MAX_ERROR_LENGTH);
    deps.onState();
  }

  async function takeCredentials({ revision, credentials }: ProbeConfiguration): Promise<void> {
    const wrong = await deps.credentials(credentials);
    if (wrong !== null) {
      deps.log.error({ revision, reason: wrong }, "the credentials in the collector's configuration cannot be used; keeping the last ones");
    }
    if (current?.revision === revision) say(wrong);
  }

  function take(configuration: ProbeConfiguration): boolean {
    const wrong = deps.apply(configuration);
    if (wrong !== null) {
      deps.log.error(
        { revision: configuration.revision, reason: wrong }, "the collector's configuration cannot be used; keeping the last one",
      );
      say(wrong);
      return false;
    }
    current = configuration;
    void takeCredentials(configuration);
    return true;
  }

  const kept = read(deps.path);
  if (kept !== null) {
    const configuration = decodeMessage(ProbeConfiguration, Buffer.from(kept));
    if (configuration) take(configuration);
    else deps.log.warn(
      { path: deps.path }, "the stored configuration cannot be read; using the probe's own file until the collector sends another",
    );
  }

  return {
    current: () => current,
    state: () => ({ revision: current?.revision ?? null, error }),
    onMessage(payload) {
      // What a broker sends for a retained message that was cleared.
      if (payload.length === 0) return;
      const configuration = decodeMessage(ProbeConfiguration, payload);
      if (!configuration) {
        deps.log.error({ bytes: payload.length }, "the collector sent a configuration that cannot be read; keeping the last one");
        say("this version of the probe cannot read the collector's configuration");
        return;
      }
      if (!take(configuration)) return;
      deps.log.info({ revision: configuration.revision, site: configuration.site_name }, "applied the collector's configuration");
      try {
        writeFileAtomically(deps.path, JSON.stringify(configuration), { mode: 0o600, durable: true });
      } catch (error) {
        deps.log.warn({ reason: describeError(error) }, "the collector's configuration could not be stored for the next start");
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
