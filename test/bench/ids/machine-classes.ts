/** Classes of rules as a Suricata of this machine has them: cases say what its alerts call them. */
import { existsSync, readFileSync } from "node:fs";
import { parseClassifications, type RuleClass } from "@lanthorn/ids";

const FILE = "/etc/suricata/classification.config";

/** Null where there is no Suricata: then neither names nor priorities of classes are compared. */
export const MACHINE_CLASSES: ReadonlyMap<string, RuleClass> | null = existsSync(FILE) ? parseClassifications(readFileSync(FILE)).entries : null;
