export { cpeFromUri, formatCpe } from "./cpe.ts";
export { FingerprintsError } from "./errors.ts";
export { checkRecogExamples, type ExampleReport, type WrongAnswer } from "./recog/check-examples.ts";
export { createRecogDatabase, type RecogDatabase, type RecogMatch } from "./recog/database.ts";
export { readRecogFile, type RecogFile } from "./recog/read-database.ts";
export { readRecogFolder } from "./recog/read-folder.ts";
export { type AnswerKind, readAnswer } from "./rules/answers.ts";
export { type Claim, type ClaimField, combineClaims, type Verdict } from "./rules/claim.ts";
export { createVendorLookup, type VendorLookup } from "./vendor.ts";
