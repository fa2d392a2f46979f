import type { Clock } from "@lanthorn/runtime";
import type { HealthParts } from "../health.ts";
import { type RemoteName, type ServiceRoutes, SERVICE_NAMES } from "../services.ts";
import { proxyRoutes, type Remote } from "./routes.ts";
import { createUpstream } from "./upstream.ts";

/** What the configuration says of a service that is another process. */
interface RemoteSettings {
  readonly url: string;
  readonly secret: string;
  readonly ca_file?: string | undefined;
  readonly timeout_seconds: number;
}

interface Remotes {
  readonly all: readonly Remote[];
  /** The services as they are mounted: each in this process, or handed on to where it is. */
  mount(declared: ServiceRoutes): ServiceRoutes;
  /** One for each, asked at most every few seconds, whoever asks the gateway. */
  readonly parts: HealthParts;
  close(): void;
}

const ASK_AGAIN_MS = 5000;

/** @param deps.readPem Reads a certificate's file. */
export function createRemotes(
  settings: Readonly<Partial<Record<RemoteName, RemoteSettings | undefined>>>, deps: {
    readonly clock: Clock; readonly readPem: (path: string) => string;
  },
): Remotes {
  const { clock } = deps;
  const all = SERVICE_NAMES.flatMap((name): Remote[] => {
    const given = name === "gateway" ? undefined : settings[name];
    if (name === "gateway" || given === undefined) return [];
    const { url, ca_file: caFile, timeout_seconds: timeoutSeconds } = given;
    const ca = caFile === undefined ? null : deps.readPem(caFile);
    const upstream = createUpstream({ name, url, ca, timeoutMs: timeoutSeconds * 1000 }, { clock });
    return [{ service: name, secret: new TextEncoder().encode(given.secret), upstream }];
  });
  return {
    all,
    mount: (declared) => ({
      ...declared,
      ...Object.fromEntries(all.map((remote) => [remote.service, [proxyRoutes(remote, declared[remote.service] ?? [], { clock })]])),
    }),
    parts: Object.fromEntries(all.map(({ service, upstream }) => [service, seldom(() => upstream.health(), clock)])),
    close() {
      for (const { upstream } of all) upstream.close();
    },
  };
}

/** Anybody may ask how the gateway is: that must not become a way to make it ask others. */
function seldom<T>(ask: () => Promise<T>, clock: Clock): () => Promise<T> {
  let answer: { readonly askedAt: number; readonly value: Promise<T> } | null = null;
  return () => {
    const now = clock.monotonic();
    if (answer === null || now - answer.askedAt >= ASK_AGAIN_MS) answer = { askedAt: now, value: ask() };
    return answer.value;
  };
}
