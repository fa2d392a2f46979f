import type { Clock, Lifecycle, Log } from "@lanthorn/runtime";
import { finishSwap } from "./backups/restore/swap.ts";
import { publishCaCertificate } from "./certificates/authority-files.ts";
import { type Authority, openAuthority } from "./certificates/authority.ts";
import { machineNames } from "./certificates/names.ts";
import { openServerCertificate, type ServerCertificate } from "./certificates/server-certificate.ts";
import type { Configuration } from "./configuration.ts";
import { prepareDataDir, tokenSecret } from "./data-dir.ts";
import { awaitDatabase } from "./db/await.ts";
import type { Database } from "./db/open.ts";
import type { Audit } from "./gateway/audit.ts";
import { streamLimits } from "./gateway/limits/configuration.ts";
import { createStreamSessions, type StreamSessions } from "./gateway/stream-sessions.ts";
import { isWildcard } from "./gateway/http/url-host.ts";
import { openReplicas, type Replicas } from "./replicas/open.ts";
import { openKeyring } from "./sealing/keyring.ts";
import { createSealing, type Sealing } from "./sealing/sealing.ts";
import { createAudit } from "./services/audit/audit.ts";
import { prepareFirstStart } from "./services/auth/users/first-start.ts";
import { createPasswords } from "./services/auth/login/passwords.ts";
import { createAuth, type Auth } from "./services/auth/auth.ts";
import { createAuthStore, type AuthStore } from "./services/auth/store.ts";
import { readTokenKey } from "./services/auth/token-key.ts";
import { DEFAULT_SITE_CONFIGURATION } from "./services/sites/service.ts";

/** What the process gives to the collector. */
export interface CollectorDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  readonly version: string;
  /** How this program is run once more, for work that wants a process of its own. */
  readonly program: readonly [string, ...string[]];
}

/** What the services and the gateway stand on. */
export interface Base {
  readonly database: Database;
  readonly sealing: Sealing;
  readonly replicas: Replicas;
  /** What all collectors of the deployment know and nobody else. */
  readonly secret: Uint8Array;
  readonly audit: Audit;
  readonly authStore: AuthStore;
  readonly auth: Auth;
  readonly sessions: StreamSessions;
  readonly authority: Authority;
  readonly certificate: ServerCertificate;
}

/**
 * Opens the database, the deployment's secrets, who may do what, and the certificates.
 * @param options.onAccessChanged Tells the other replicas that somebody of the tenant may do less than before.
 */
export async function openBase(
  configuration: Configuration, deps: CollectorDependencies, options: { readonly onAccessChanged: (tenantId: string) => void },
): Promise<Base> {
  const { clock, log, lifecycle } = deps;
  const { data_dir: dataDir } = configuration;
  prepareDataDir(dataDir);
  if (finishSwap(dataDir)) log.warn({ data_dir: dataDir }, "an interrupted restore was completed");
  const database = await awaitDatabase(configuration.database_location, { waitSeconds: configuration.database.wait_seconds, clock, log });
  lifecycle.onClose("database", database.close);

  const passwords = createPasswords();
  const authStore = createAuthStore(database);
  const first = await prepareFirstStart({
    store: authStore, passwords, clock, dataDir, password: configuration.admin.password, siteConfiguration: DEFAULT_SITE_CONFIGURATION,
  });
  if (first?.generated) {
    const { password, file } = first.generated;
    process.stderr.write(`first start: the user is ${first.username}, the password ${password} (kept in ${file})\n`);
  }
  const sealing = createSealing(openKeyring(dataDir, configuration.sealing_key));
  const replicas = await openReplicas({ db: database.db, sealing, dataDir, clock, log, lifecycle });
  const secret = await tokenSecret(configuration, replicas.secrets);
  const { lifetime_seconds: tokenLifetimeSeconds, key_file: keyFile } = configuration.token;
  const audit = createAudit({ clock });
  const sessions = createStreamSessions({
    authentication: { again: (identity) => auth.authentication.again(identity) }, limits: streamLimits(configuration.streams), clock,
  });
  const auth = createAuth({
    onAccessChanged(tenantId) {
      sessions.accessChanged(tenantId);
      options.onAccessChanged(tenantId);
    },
    store: authStore, passwords, ...database, audit, clock, log, tokenLifetimeSeconds,
    tokenKey: keyFile === undefined ? { secret } : { privateKey: readTokenKey(keyFile) },
  });
  return { database, sealing, replicas, secret, audit, authStore, auth, sessions, ...await openCertificates(configuration, deps, replicas) };
}

async function openCertificates(
  { data_dir: dataDir, https, mqtt }: Configuration, { clock, log }: CollectorDependencies, { secrets }: Replicas,
): Promise<Pick<Base, "authority" | "certificate">> {
  const authority = await openAuthority({ dataDir, secrets, clock });
  publishCaCertificate(dataDir, authority);
  const names = () => [...machineNames(), ...https.names, ...[https.host, mqtt.host].filter((host) => !isWildcard(host))];
  const certificate = await openServerCertificate({ authority, dataDir, names, clock, log });
  return { authority, certificate };
}
