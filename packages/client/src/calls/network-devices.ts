import {
  ConfigDiff, type ConfigDiffReveal, ConfigVersion, ConfigVersionContent, type ConfigVersionUpload, Credential, type CredentialCreate,
  CredentialRevealed,
  type CredentialUpdate, listEnvelope,
} from "@lanthorn/contract";
import * as z from "zod";
import type { Query, Transport } from "../transport.ts";

const credential = (id: string, rest = "") => `/api/v1/vault/credentials/${encodeURIComponent(id)}${rest}`;
const device = (id: string, rest: string) => `/api/v1/cmod/devices/${encodeURIComponent(id)}${rest}`;
const version = (id: string, versionId: string, rest = "") => device(id, `/versions/${encodeURIComponent(versionId)}${rest}`);

/** What probes log in to devices with. */
export const vaultCalls = ({ call }: Transport) => ({
  listCredentials: (query?: Query) => call("GET", "/api/v1/vault/credentials", listEnvelope(Credential), { query }),
  createCredential: (made: z.input<typeof CredentialCreate>) => call("POST", "/api/v1/vault/credentials", Credential, { body: made }),
  readCredential: (id: string) => call("GET", credential(id), Credential),
  updateCredential: (id: string, changes: CredentialUpdate) => call("PUT", credential(id), Credential, { body: changes }),
  deleteCredential: async (id: string): Promise<void> => void (await call("DELETE", credential(id), z.unknown())),
  /** With its secret; the audit log tells who has asked. */
  revealCredential: (id: string) => call("POST", credential(id, "/reveal"), CredentialRevealed),
});

/** Versions of network devices' running configurations. */
export const configurationCalls = ({ call }: Transport) => ({
  /** @returns The newest version, which is a new one where something has changed. */
  uploadConfigVersion: (deviceId: string, upload: z.input<typeof ConfigVersionUpload>) => call(
    "POST", device(deviceId, "/versions"), ConfigVersion, { body: upload },
  ),
  listConfigVersions: (deviceId: string, query?: Query) => call(
    "GET", device(deviceId, "/versions"), listEnvelope(ConfigVersion), { query },
  ),
  readConfigVersion: (deviceId: string, versionId: string) => call("GET", version(deviceId, versionId), ConfigVersionContent),
  /** With what is secret in it; the audit log tells who has asked. */
  revealConfigVersion: (deviceId: string, versionId: string) => call("POST", version(deviceId, versionId, "/reveal"), ConfigVersionContent),
  deleteConfigVersion: async (
    deviceId: string, versionId: string,
  ): Promise<void> => void (await call("DELETE", version(deviceId, versionId), z.unknown())),
  readConfigDiff: (deviceId: string, query?: Query) => call("GET", device(deviceId, "/diff"), ConfigDiff, { query }),
  revealConfigDiff: (deviceId: string, between: ConfigDiffReveal = {}) => call(
    "POST", device(deviceId, "/diff/reveal"), ConfigDiff, { body: between },
  ),
});
