/** What was published cannot be taken at all. The message goes on from "the rule set was not taken: ". */
export class FileRefused extends Error {
  override readonly name = "FileRefused";
}
