import { ProbeConfiguration } from "@lanthorn/contract/uplink";
import { describeError, type Log, readTextFile } from "@lanthorn/runtime";
import type * as z from "zod";
import { writeFileAtomically } from "../atomic-file.ts";
import { decodeMessage } from "./payload.ts";

/** The contract's limit. */
const MAX_ERROR_LENGTH = 512;

/** What concerns no module: it names the configuration. */
const HEAD = ProbeConfiguration.pick({ v: true, revision: true, site_name: true });

/** A module that the collector can set something of: which part of the configuration, and how it takes a change. */
export interface SiteModule {
  readonly name: string;
  /** The keys of its part, each with its schema. */
  readonly shape: z.core.$ZodShape;
  /**
   * `all`: a configuration whose part it refuses is taken by no module. `part`: only its own part stays as it was.
   */
  readonly refuses: "all" | "part";
  /** @returns What is wrong with its part, in which case its last one stays; else null. */
  readonly take: (configuration: object) => string | null | Promise<string | null>;
}

/**
 * A row of the table of modules.
 * @param module.part Its part of the configuration, as an object of schemas.
 * @param module.take Takes a change of it. A module that `refuses` all answers at once.
 */
export function siteModule<Part extends z.ZodObject>(module: {
  readonly name: string;
  readonly part: Part;
} & (
  | { readonly refuses: "all"; readonly take: (part: z.infer<Part>) => string | null }
  | { readonly refuses: "part"; readonly take: (part: z.infer<Part>) => string | null | Promise<string | null> }
)): SiteModule {
  const { name, part, refuses, take } = module;
  return { name, refuses, shape: part.shape, take: (configuration) => take(part.parse(configuration)) };
}

/** What names a configuration of the collector's. */
export type SiteHead = z.infer<typeof HEAD>;

/** What the collector sets of this probe, kept over restarts: what may not be sent to stays so without a connection. */
export interface SiteConfiguration {
  /** The last one that was taken; null before the first. */
  current(): SiteHead | null;
  /** Which one that is, and in words what is wrong with the last one that came, for the collector to know. */
  state(): { readonly revision: number | null; readonly error: string | null };
  /** @param payload Whatever came on the topic; what is no configuration is left aside. */
  onMessage(payload: Uint8Array): void;
}

/**
 * Takes the configuration that was kept, and then each that comes.
 * @param deps.path Where the last one is kept.
 * @param deps.modules Who takes which part of it. Those that can refuse all of it are asked first.
 * @param deps.onState Called when `state` is another.
 */
export function createSiteConfiguration(deps: {
  readonly path: string;
  readonly modules: readonly SiteModule[];
  readonly onState: () => void;
  readonly log: Log;
}): SiteConfiguration {
  const { modules, log } = deps;
  const parts = Object.assign({}, ...modules.map(({ shape }) => shape)) as z.core.$ZodShape;
  const schema = HEAD.extend(parts) as unknown as z.ZodType<SiteHead>;
  let current: SiteHead | null = null;
  let error: string | null = null;

  function setError(wrong: string | null): void {
    error = wrong === null ? null : wrong.slice(0, MAX_ERROR_LENGTH);
    deps.onState();
  }

  async function takeParts(configuration: SiteHead): Promise<void> {
    const { revision } = configuration;
    const outcomes = await Promise.all(modules.filter(({ refuses }) => refuses === "part").map(async ({ name, take }) => {
      const wrong = await take(configuration);
      if (wrong !== null) log.error({ revision, module: name, reason: wrong }, "a part of the collector's configuration cannot be used; keeping the last one");
      return wrong;
    }));
    if (current?.revision === revision) setError(outcomes.find((wrong) => wrong !== null) ?? null);
  }

  function take(configuration: SiteHead): boolean {
    const { revision } = configuration;
    for (const { name, refuses, take } of modules) {
      const wrong = refuses === "all" ? take(configuration) : null;
      if (typeof wrong !== "string") continue;
      log.error({ revision, module: name, reason: wrong }, "the collector's configuration cannot be used; keeping the last one");
      setError(wrong);
      return false;
    }
    current = configuration;
    void takeParts(configuration);
    return true;
  }

  const kept = read(deps.path);
  if (kept !== null) {
    const configuration = decodeMessage(schema, Buffer.from(kept));
    if (configuration) take(configuration);
    else log.warn(
      { path: deps.path }, "the stored configuration cannot be read; using the probe's own file until the collector sends another",
    );
  }

  return {
    current: () => current,
    state: () => ({ revision: current?.revision ?? null, error }),
    onMessage(payload) {
      // What a broker sends for a retained message that was cleared.
      if (payload.length === 0) return;
      const configuration = decodeMessage(schema, payload);
      if (!configuration) {
        log.error({ bytes: payload.length }, "the collector sent a configuration that cannot be read; keeping the last one");
        setError("this version of the probe cannot read the collector's configuration");
        return;
      }
      if (!take(configuration)) return;
      log.info({ revision: configuration.revision, site: configuration.site_name }, "applied the collector's configuration");
      try {
        writeFileAtomically(deps.path, JSON.stringify(configuration), { mode: 0o600, durable: true });
      } catch (cause) {
        log.warn({ reason: describeError(cause) }, "the collector's configuration could not be stored for the next start");
      }
    },
  };
}

/** @returns Null where there is none; empty where there is one that cannot be read. */
function read(path: string): string | null {
  try {
    return readTextFile(path);
  } catch {
    return "";
  }
}
