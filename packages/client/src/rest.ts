import {
  Alert, ApiKey, type ApiKeyCreate, ApiKeyCreated, Backup, Device, DeviceProfile, EnrollResponse, EnrollmentToken, ErrorEnvelope, HealthResponse,
  IpamAddress, IpamConflict, IpamPrefix, type List, listEnvelope, Probe, RenewResponse, Scan, ScanHost, Site, TokenResponse, User,
} from "@lanthorn/contract";
import { z } from "zod";
import { ClientError } from "./errors.ts";

/** As much of `fetch` as is used, so that a caller can bring one with its own trust. */
export type Fetch = (url: string, init: {
  readonly method: string; readonly headers: Record<string, string>; readonly body?: string; readonly signal: AbortSignal;
}) => Promise<{ readonly status: number; readonly headers: { get(name: string): string | null }; text(): Promise<string> }>;

/** Query values; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RestClient {
  login(username: string, password: string): Promise<TokenResponse>;
  refresh(): Promise<TokenResponse>;
  health(): Promise<HealthResponse>;
  listDevices(query?: Query): Promise<List<Device>>;
  readDevice(id: string): Promise<DeviceProfile>;
  listSites(query?: Query): Promise<List<Site>>;
  createSite(name: string): Promise<Site>;
  createEnrollmentToken(siteId: string, ttlSeconds?: number): Promise<EnrollmentToken>;
  listProbes(query?: Query): Promise<List<Probe>>;
  readProbe(id: string): Promise<Probe>;
  revokeProbe(id: string): Promise<void>;
  enroll(request: { readonly token: string; readonly certificate_request: string; readonly name: string }): Promise<EnrollResponse>;
  renew(certificateRequest: string): Promise<RenewResponse>;
  listApiKeys(query?: Query): Promise<List<ApiKey>>;
  createApiKey(key: ApiKeyCreate): Promise<ApiKeyCreated>;
  revokeApiKey(id: string): Promise<void>;
  listUsers(query?: Query): Promise<List<User>>;
  startScan(scan: { readonly target: string; readonly profile: string; readonly site_id?: string }): Promise<Scan>;
  readScan(id: string): Promise<Scan>;
  listScanResults(id: string, query?: Query): Promise<List<ScanHost>>;
  listAlerts(query?: Query): Promise<List<Alert>>;
  acknowledgeAlert(id: string): Promise<Alert>;
  resolveAlert(id: string): Promise<Alert>;
  startBackup(): Promise<Backup>;
  readBackup(id: string): Promise<Backup>;
  listBackups(query?: Query): Promise<List<Backup>>;
  listIpamPrefixes(query?: Query): Promise<List<IpamPrefix>>;
  listIpamConflicts(query?: Query): Promise<List<IpamConflict>>;
  allocateIpamAddress(prefixId: string, address: { readonly hostname?: string; readonly status?: string }): Promise<IpamAddress>;
  allocateIpamPrefix(prefixId: string, prefix: { readonly length: number; readonly name?: string }): Promise<IpamPrefix>;
}

/** Longer than the collector's own limit of 30 s for a request. */
const CALL_TIMEOUT_MS = 35_000;

/**
 * A typed client of the collector's REST interface.
 * @param options.url Scheme, host and port; a trailing slash does no harm.
 * @param options.token Read at each call, so that a refreshed one is used at once; null for calls that need none.
 * @throws ClientError from every call: the collector's code, `unreachable`, or `not-an-answer` for a body of another shape.
 */
export function createRestClient(options: { readonly url: string; readonly token: () => string | null; readonly fetch: Fetch }): RestClient {
  const base = options.url.replace(/\/+$/, "");

  async function call<T extends z.ZodType>(method: string, path: string, answer: T, body?: unknown): Promise<z.infer<T>> {
    const token = options.token();
    const response = await options.fetch(`${base}${path}`, {
      method,
      headers: {
        accept: "application/json",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw new ClientError("unreachable", `no answer from ${base}`, { cause });
    });
    const value = parseJson(await response.text());
    if (response.status >= 400 && path !== "/api/health") throw refusal(response.status, value, base);
    const parsed = answer.safeParse(value);
    if (!parsed.success) {
      throw new ClientError("not-an-answer", `${base}${path} answered with status ${response.status} and a body that is not Lanthorn's`, {
        status: response.status, cause: parsed.error,
      });
    }
    return parsed.data;
  }

  return {
    login: (username, password) => call("POST", "/api/auth/login", TokenResponse, { username, password }),
    refresh: () => call("POST", "/api/auth/refresh", TokenResponse),
    health: () => call("GET", "/api/health", HealthResponse),
    listDevices: (query) => call("GET", `/api/v1/devices${queryText(query)}`, listEnvelope(Device)),
    readDevice: (id) => call("GET", `/api/v1/devices/${encodeURIComponent(id)}`, DeviceProfile),
    listSites: (query) => call("GET", `/api/v1/sites${queryText(query)}`, listEnvelope(Site)),
    createSite: (name) => call("POST", "/api/v1/sites", Site, { name }),
    createEnrollmentToken: (siteId, ttlSeconds) =>
      call("POST", "/api/v1/agents/tokens", EnrollmentToken, { site_id: siteId, ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }) }),
    listProbes: (query) => call("GET", `/api/v1/agents/probes${queryText(query)}`, listEnvelope(Probe)),
    readProbe: (id) => call("GET", `/api/v1/agents/probes/${encodeURIComponent(id)}`, Probe),
    revokeProbe: async (id) => {
      await call("POST", `/api/v1/agents/probes/${encodeURIComponent(id)}/revoke`, z.unknown());
    },
    enroll: (request) => call("POST", "/api/v1/agents/enroll", EnrollResponse, request),
    listApiKeys: (query) => call("GET", `/api/v1/auth/keys${queryText(query)}`, listEnvelope(ApiKey)),
    createApiKey: (key) => call("POST", "/api/v1/auth/keys", ApiKeyCreated, key),
    revokeApiKey: async (id) => {
      await call("DELETE", `/api/v1/auth/keys/${encodeURIComponent(id)}`, z.unknown());
    },
    listUsers: (query) => call("GET", `/api/v1/users${queryText(query)}`, listEnvelope(User)),
    startScan: (scan) => call("POST", "/api/v1/scans/start", Scan, scan),
    readScan: (id) => call("GET", `/api/v1/scans/${encodeURIComponent(id)}`, Scan),
    listScanResults: (id, query) =>
      call("GET", `/api/v1/scans/${encodeURIComponent(id)}/results${queryText(query)}`, listEnvelope(ScanHost)),
    listAlerts: (query) => call("GET", `/api/v1/alerts${queryText(query)}`, listEnvelope(Alert)),
    acknowledgeAlert: (id) => call("POST", `/api/v1/alerts/${encodeURIComponent(id)}/acknowledge`, Alert),
    resolveAlert: (id) => call("POST", `/api/v1/alerts/${encodeURIComponent(id)}/resolve`, Alert),
    startBackup: () => call("POST", "/api/v1/backups", Backup),
    readBackup: (id) => call("GET", `/api/v1/backups/${encodeURIComponent(id)}`, Backup),
    listBackups: (query) => call("GET", `/api/v1/backups${queryText(query)}`, listEnvelope(Backup)),
    listIpamPrefixes: (query) => call("GET", `/api/v1/ipam/prefixes${queryText(query)}`, listEnvelope(IpamPrefix)),
    listIpamConflicts: (query) => call("GET", `/api/v1/ipam/conflicts${queryText(query)}`, listEnvelope(IpamConflict)),
    allocateIpamAddress: (id, address) => call("POST", `/api/v1/ipam/prefixes/${encodeURIComponent(id)}/next-address`, IpamAddress, address),
    allocateIpamPrefix: (id, prefix) => call("POST", `/api/v1/ipam/prefixes/${encodeURIComponent(id)}/next-prefix`, IpamPrefix, prefix),
    renew: (certificateRequest) => call("POST", "/api/v1/agents/renew", RenewResponse, { certificate_request: certificateRequest }),
  };
}

/** Reads a list to its end through `next_cursor`, one page after the other. */
export async function* readAll<T>(readPage: (query: Query) => Promise<List<T>>, query: Query = {}): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    const page: List<T> = await readPage({ ...query, per_page: 1000, ...(cursor === null ? {} : { cursor }) });
    yield* page.data;
    cursor = page.meta.next_cursor;
  } while (cursor !== null);
}

function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(status: number, value: unknown, base: string): ClientError {
  const envelope = ErrorEnvelope.safeParse(value);
  if (!envelope.success) return new ClientError("not-an-answer", `${base} answered with status ${status} and no error envelope; is this a Lanthorn collector?`, { status });
  const { code, message, details } = envelope.data.error;
  return new ClientError(code, message, { status, details });
}
