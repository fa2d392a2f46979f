// A process of its own, started by `createTextProcess`: takes one task after the other, and ends with who started it.
import { type TextTask, workOnTexts } from "./text-work.ts";

process.on("message", (task: TextTask) => process.send?.(workOnTexts(task)));
process.on("disconnect", () => process.exit(0));
