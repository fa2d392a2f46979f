import * as z from "zod";
import { LearnedDevice } from "../../uplink/anomalies.ts";
import { Id } from "../../values.ts";
import {
  AnomaliesQuery, AnomalyDetails, AnomalyFeedback, AnomalyFeedbackCreate, AnomalyFeedbackQuery, AnomalyModel, AnomalyModelChange, AnomalyModelDevicesQuery, AnomalyModelFreeze, AnomalyModelReset, AnomalyRow, DeviceBehaviour,
} from "../anomalies.ts";
import { IdPageQuery, listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";

const OfAnomaly = z.object({ anomaly_id: Id });
const OfProbe = z.object({ probe_id: Id });
const OfDevice = z.object({ device_id: Id });
const OfFeedback = z.object({ anomaly_feedback_id: Id });

/** Behavior of devices that is not usual for them. */
export const anomaliesOperations = operations({
  listAnomalies: { target: "GET /anomalies", query: AnomaliesQuery, status: 200, answer: listEnvelope(AnomalyRow) },
  listAnomalyFeedback: { target: "GET /anomalies/feedback", query: AnomalyFeedbackQuery, status: 200, answer: listEnvelope(AnomalyFeedback) },
  deleteAnomalyFeedback: { target: "DELETE /anomalies/feedback/{anomaly_feedback_id}", params: OfFeedback, status: 204 },
  listAnomalyModels: { target: "GET /anomalies/models", query: IdPageQuery, status: 200, answer: listEnvelope(AnomalyModel) },
  listAnomalyModelDevices: { target: "GET /anomalies/models/{probe_id}/devices", params: OfProbe, query: AnomalyModelDevicesQuery, status: 200, answer: listEnvelope(LearnedDevice) },
  freezeAnomalyModel: { target: "POST /anomalies/models/{probe_id}/freeze", params: OfProbe, body: AnomalyModelFreeze, status: 200, answer: AnomalyModelChange },
  resetAnomalyModel: { target: "POST /anomalies/models/{probe_id}/reset", params: OfProbe, body: AnomalyModelReset, status: 200, answer: AnomalyModelChange },
  readDeviceBehaviour: { target: "GET /devices/{device_id}/behaviour", params: OfDevice, status: 200, answer: DeviceBehaviour },
  readAnomaly: { target: "GET /anomalies/{anomaly_id}", params: OfAnomaly, status: 200, answer: AnomalyDetails },
  createAnomalyFeedback: { target: "POST /anomalies/{anomaly_id}/feedback", params: OfAnomaly, body: AnomalyFeedbackCreate, status: 201, answer: AnomalyFeedback },
});
