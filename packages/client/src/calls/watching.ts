import {
  Alert, AlertMute, type AlertMuteCreate, EnrollmentToken, EnrollmentTokenRecord, EnrollResponse, EventsPage, type FileBegin, type FilePieceQuery, FileProgress, License, type LicenseUpload, listEnvelope,
  Probe,
  ProbeFile, ProbeHealth, ProbeSettings, type ProbeSettingsUpdate, PublishedBundle, RenewResponse, Scan, ScanHost,
  ScanProfile, type ScanStart, SignedBundle, Topology,
} from "@lanthorn/contract";
import * as z from "zod";
import type { Query, Transport } from "../transport.ts";

const alert = (id: string, rest = "") => `/api/v1/alerts/${encodeURIComponent(id)}${rest}`;
const mute = (id: string) => `/api/v1/alerts/mutes/${encodeURIComponent(id)}`;
const scan = (id: string, rest = "") => `/api/v1/scans/${encodeURIComponent(id)}${rest}`;
const enrollmentToken = (id: string) => `/api/v1/agents/tokens/${encodeURIComponent(id)}`;
const probeFile = (id: string, rest: string) => `/api/v1/agents/files/${encodeURIComponent(id)}${rest}`;
const bundle = (name: string, rest = "") => `/api/v1/agents/bundles/${encodeURIComponent(name)}${rest}`;
const probe = (id: string, rest = "") => `/api/v1/agents/probes/${encodeURIComponent(id)}${rest}`;

/** Scans, alerts and how devices are linked. */
export const watchingCalls = ({ call, text }: Transport) => ({
  /** @param started Profiles are the collector's to know: see `listScanProfiles`. */
  startScan: (started: Omit<ScanStart, "profile"> & { readonly profile: string }) => call(
    "POST", "/api/v1/scans/start", Scan, { body: started },
  ),
  listScans: (query?: Query) => call("GET", "/api/v1/scans", listEnvelope(Scan), { query }),
  readScan: (id: string) => call("GET", scan(id), Scan),
  cancelScan: (id: string) => call("POST", scan(id, "/cancel"), Scan),
  listScanResults: (id: string, query?: Query) => call("GET", scan(id, "/results"), listEnvelope(ScanHost), { query }),
  listScanProfiles: (query?: Query) => call("GET", "/api/v1/scans/profiles", listEnvelope(ScanProfile), { query }),
  /** The log of events, oldest first; follow `meta.next_cursor`, and come back with `since` set to the last `meta.position`. */
  listEvents: (query?: Query) => call("GET", "/api/v1/events", EventsPage, { query }),
  readTopology: (query?: Query) => call("GET", "/api/v1/topology", Topology, { query }),
  listAlerts: (query?: Query) => call("GET", "/api/v1/alerts", listEnvelope(Alert), { query }),
  /** The whole list as CSV, with the list's filters. */
  exportAlerts: (query?: Query) => text("/api/v1/alerts/export", query),
  readAlert: (id: string) => call("GET", alert(id), Alert),
  acknowledgeAlert: (id: string) => call("POST", alert(id, "/acknowledge"), Alert),
  resolveAlert: (id: string) => call("POST", alert(id, "/resolve"), Alert),
  listAlertMutes: (query?: Query) => call("GET", "/api/v1/alerts/mutes", listEnvelope(AlertMute), { query }),
  readAlertMute: (id: string) => call("GET", mute(id), AlertMute),
  muteAlerts: (made: z.input<typeof AlertMuteCreate>) => call("POST", "/api/v1/alerts/mutes", AlertMute, { body: made }),
  endAlertMute: async (id: string): Promise<void> => void (await call("DELETE", mute(id), z.unknown())),
});

/** Probes, from their enrollment to their revocation, and the license that bounds their number. */
export const probeCalls = ({ call, download }: Transport) => ({
  createEnrollmentToken: (siteId: string, ttlSeconds?: number) => call("POST", "/api/v1/agents/tokens", EnrollmentToken, {
    body: { site_id: siteId, ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }) },
  }),
  enroll: (request: { readonly token: string; readonly certificate_request: string; readonly name: string }) =>
    call("POST", "/api/v1/agents/enroll", EnrollResponse, { body: request }),
  renew: (certificateRequest: string) => call(
    "POST", "/api/v1/agents/renew", RenewResponse, { body: { certificate_request: certificateRequest } },
  ),
  /** Begins to send a file, or goes on with it; like the two below and `renew` with a probe's own certificate. */
  beginProbeFile: (file: FileBegin) => call("POST", "/api/v1/agents/files", FileProgress, { body: file }),
  /** @param piece At most 1 MiB, from `at.offset` of the file on. */
  sendProbeFilePiece: (id: string, at: z.infer<typeof FilePieceQuery>, piece: Uint8Array<ArrayBuffer>) =>
    call("PUT", probeFile(id, "/content"), FileProgress, { query: at, bytes: piece }),
  /** Files that a probe has sent, for operators. */
  listProbeFiles: (probeId: string, query?: Query) => call("GET", probe(probeId, "/files"), listEnvelope(ProbeFile), { query }),
  downloadProbeFile: (probeId: string, id: string) => download(probe(probeId, `/files/${encodeURIComponent(id)}/content`)),
  finishProbeFile: (id: string) => call("POST", probeFile(id, "/finish"), FileProgress),
  /** The newest versions of what probes are given; `health.bundles` of a probe says which it uses. */
  listBundles: (query?: Query) => call("GET", "/api/v1/agents/bundles", listEnvelope(PublishedBundle), { query }),
  /** Like the one below with a probe's own certificate. */
  readBundle: (name: string) => call("GET", bundle(name), SignedBundle),
  /** A piece of a part, from `offset` of it on. */
  readBundlePart: (name: string, sha256: string, offset: number) => download(bundle(name, `/parts/${encodeURIComponent(sha256)}?offset=${offset}`)),
  listProbes: (query?: Query) => call("GET", "/api/v1/agents/probes", listEnvelope(Probe), { query }),
  listEnrollmentTokens: (query?: Query) => call("GET", "/api/v1/agents/tokens", listEnvelope(EnrollmentTokenRecord), { query }),
  readEnrollmentToken: (id: string) => call("GET", enrollmentToken(id), EnrollmentTokenRecord),
  removeEnrollmentToken: async (id: string): Promise<void> => void (await call("DELETE", enrollmentToken(id), z.unknown())),
  readProbe: (id: string) => call("GET", probe(id), Probe),
  renameProbe: (id: string, name: string) => call("PUT", probe(id), Probe, { body: { name } }),
  listProbeHealth: (id: string, query?: Query) => call("GET", probe(id, "/health"), listEnvelope(ProbeHealth), { query }),
  readProbeSettings: (id: string) => call("GET", probe(id, "/configuration"), ProbeSettings),
  updateProbeSettings: (id: string, settings: z.input<typeof ProbeSettingsUpdate>) =>
    call("PUT", probe(id, "/configuration"), ProbeSettings, { body: settings }),
  revokeProbe: async (id: string): Promise<void> => void (await call("POST", probe(id, "/revoke"), z.unknown())),
  readLicense: () => call("GET", "/api/v1/license", License),
  uploadLicense: (license: z.input<typeof LicenseUpload>) => call("PUT", "/api/v1/license", License, { body: license }),
  removeLicense: async (): Promise<void> => void (await call("DELETE", "/api/v1/license", z.unknown())),
});
