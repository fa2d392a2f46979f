import * as z from "zod";
import { Id } from "../../values.ts";
import { IdPageQuery, listEnvelope } from "../envelopes.ts";
import {
  ConfigDiff, ConfigDiffQuery, ConfigDiffReveal, ConfigVersion, ConfigVersionContent, ConfigVersionUpload,
} from "../config-versions.ts";
import { operations } from "../operation.ts";

const OfDevice = z.object({ device_id: Id });
const OfVersion = z.object({ device_id: Id, version_id: Id });

/** Versions of network devices' running configurations. */
export const configVersionsOperations = operations({
  /** Answers the newest version, which is a new one (201) where something has changed. */
  uploadDeviceConfiguration: {
    target: "POST /cmod/devices/{device_id}/versions", params: OfDevice, body: ConfigVersionUpload, status: 200, answer: ConfigVersion,
  },
  listDeviceConfigurations: {
    target: "GET /cmod/devices/{device_id}/versions", params: OfDevice, query: IdPageQuery, status: 200,
    answer: listEnvelope(ConfigVersion),
  },
  readDeviceConfiguration: {
    target: "GET /cmod/devices/{device_id}/versions/{version_id}", params: OfVersion, status: 200, answer: ConfigVersionContent,
  },
  /** With what is secret in it; the audit log says who has asked. */
  revealDeviceConfiguration: {
    target: "POST /cmod/devices/{device_id}/versions/{version_id}/reveal", params: OfVersion, status: 200, answer: ConfigVersionContent,
  },
  deleteDeviceConfiguration: { target: "DELETE /cmod/devices/{device_id}/versions/{version_id}", params: OfVersion, status: 204 },
  compareDeviceConfigurations: {
    target: "GET /cmod/devices/{device_id}/diff", params: OfDevice, query: ConfigDiffQuery, status: 200, answer: ConfigDiff,
  },
  /** With what is secret in it; the audit log says who has asked. */
  revealDeviceConfigurationDiff: {
    target: "POST /cmod/devices/{device_id}/diff/reveal", params: OfDevice, body: ConfigDiffReveal, status: 200, answer: ConfigDiff,
  },
});
