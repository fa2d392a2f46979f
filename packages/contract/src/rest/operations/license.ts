import { License, LicenseUpload } from "../license.ts";
import { operations } from "../operation.ts";

/** The license that applies. */
export const licenseOperations = operations({
  readLicense: { target: "GET /license", status: 200, answer: License },
  uploadLicense: { target: "PUT /license", body: LicenseUpload, status: 200, answer: License },
  deleteLicense: { target: "DELETE /license", status: 204 },
});
