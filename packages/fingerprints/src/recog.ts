/** Databases in the Recog format. Apart from the rest for who seldom needs them: reading XML takes 3 MB of memory. */
export { checkRecogExamples, type ExampleReport, type WrongAnswer } from "./recog/check-examples.ts";
export { recogClaims } from "./recog/claims.ts";
export { createRecogDatabase, type RecogDatabase, type RecogMatch } from "./recog/database.ts";
export { readRecogFile, type RecogFile } from "./recog/read-database.ts";
export { readBounded, readRecogFolder } from "./recog/read-folder.ts";
